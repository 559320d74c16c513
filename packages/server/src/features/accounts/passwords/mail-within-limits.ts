import type { ReferenceType } from '@kith/protocol'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { mailReference } from '../mails/queue-account-mail.ts'
import type { MakeReferenceDeps } from '../references/make-reference.ts'
import { listMakingTimes } from '../references/reference-store.ts'

export interface MailDeps extends MakeReferenceDeps {
  readonly jobs: Pick<Jobs, 'enqueue'>
}

const hourSecs = 3600
const daySecs = 24 * hourSecs
const maxPerHour = 3
const maxPerDay = 5

/** From when on, in Unix seconds, one more reference of this type may be mailed for the account: three an hour, five a
 * day. */
export async function whenMailHasRoom(reader: Reader, type: ReferenceType): Promise<number> {
  const times = await listMakingTimes(reader, type, maxPerDay)
  return Math.max(
    (times[maxPerHour - 1] ?? -hourSecs) + hourSecs,
    (times[maxPerDay - 1] ?? -daySecs) + daySecs,
  )
}

/** Mails the account of `tx` a reference; false when it has no address, had 3 of this type in an hour or 5 in a day, or
 * its mailbox has had too many mails. The requester is not told. */
export async function mailWithinLimits(
  deps: MailDeps,
  tx: Writer,
  mail: Parameters<typeof mailReference>[2],
): Promise<boolean> {
  if ((await whenMailHasRoom(tx, mail.type)) > nowSecs(deps.clock)) return false
  return (await mailReference(deps, tx, mail)).isQueued
}
