import { type Database, serverTenant } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { countAttempt } from '../sign-in/count-attempt.ts'

// Three at once, and one every eight hours: its owner may have asked for none of them.
const mailbox = { burst: 3, refillMs: 8 * 60 * 60_000 }

/** Counts a mail of one purpose to a mailbox, whichever account it is about. `E-RATELIMIT` when it had too many. */
export async function countMailbox(
  deps: { readonly db: Database; readonly clock: Clock },
  purpose: 'registration' | 'names' | 'address',
  email: string,
): Promise<void> {
  const at = email.lastIndexOf('@')
  // What stands behind a plus reaches the same mailbox.
  const owner = `${email.slice(0, at).split('+')[0]}${email.slice(at)}`.toLowerCase()
  await countAttempt(deps, [{ tenantId: serverTenant, key: `${purpose} mailbox ${owner}`, ...mailbox }])
}
