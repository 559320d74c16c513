import type { Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { type MailedReference, mailReference } from '../mails/queue-account-mail.ts'
import type { MakeReferenceDeps } from '../references/make-reference.ts'
import { countReferencesSince } from '../references/reference-store.ts'

export interface MailDeps extends MakeReferenceDeps {
  readonly jobs: Pick<Jobs, 'enqueue'>
}

const hourSecs = 3600
const maxPerHour = 3
const maxPerDay = 5

/** Mails the account of `tx` a reference; false when it has no address, or had 3 of this type in an hour or 5 in a day.
 * The requester is not told. */
export async function mailWithinLimits(deps: MailDeps, tx: Writer, mail: MailedReference): Promise<boolean> {
  const now = nowSecs(deps.clock)
  if ((await countReferencesSince(tx, mail.type, now - hourSecs)) >= maxPerHour) return false
  if ((await countReferencesSince(tx, mail.type, now - 24 * hourSecs)) >= maxPerDay) return false
  return await mailReference(deps, tx, mail)
}
