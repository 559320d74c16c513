import { type MailedReference, mailReference } from '#features/account-mails/index.ts'
import { countReferencesSince, type MakeReferenceDeps } from '#features/references/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'

export interface MailDeps extends MakeReferenceDeps {
  readonly jobs: Pick<Jobs, 'enqueue'>
}

const hourSecs = 3600
const maxPerHour = 3
const maxPerDay = 5

/** Mails the account of `tx` a reference; false when it has no address, or had 3 of this type in an hour or 5 in a day:
 * whoever floods a mailbox learns nothing. */
export async function mailWithinLimits(deps: MailDeps, tx: Writer, mail: MailedReference): Promise<boolean> {
  const now = nowSecs(deps.clock)
  if ((await countReferencesSince(tx, mail.type, now - hourSecs)) >= maxPerHour) return false
  if ((await countReferencesSince(tx, mail.type, now - 24 * hourSecs)) >= maxPerDay) return false
  return await mailReference(deps, tx, mail)
}
