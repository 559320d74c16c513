import { serverTenant, type Writer } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { canonicalMailbox } from '#lib/mail-address.ts'
import { countWithin } from '../sign-in/count-attempt.ts'

const dayMs = 24 * 60 * 60_000
// At no time more than three in a day: its owner may have asked for none of them.
const pace = { burst: 3, refillMs: dayMs }

/** Counts a mail to an address of which it is not proved that the account's owner reads it: by mailbox, whichever account
 * and kind of mail it is. When the mailbox has had too many it is not counted, and the answer is when there is room
 * again, in ms since 1970. */
export async function countMailbox(
  { clock }: { readonly clock: Clock },
  tx: Writer,
  email: string,
): Promise<number | undefined> {
  const bucket = { tenantId: serverTenant, key: `mailbox ${canonicalMailbox(email)}`, ...pace }
  return (await countWithin(tx, [bucket], clock.now()))?.retryAtMs
}
