import { type AttemptBucket, countAttempt } from '#features/accounts/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'

interface Deps {
  readonly db: Database
  readonly clock: Clock
}

const minuteMs = 60_000

// A class or a club that registers together, then one more every two minutes.
const address = { burst: 30, refillMs: 2 * minuteMs }
// All registrations without an invitation: with the 30 days that an unused account is kept, some 20 000 of them at most.
const strangers = { burst: 60, refillMs: 2 * minuteMs }

/** Counts a registration before it is made. `E-RATELIMIT` when there were too many. `place` is the address, coarse
 * enough to be one customer. */
export async function countRegistration(
  deps: Deps,
  { place, isInvited }: { readonly place: string; readonly isInvited: boolean },
): Promise<void> {
  const buckets: AttemptBucket[] = [
    { tenantId: serverTenant, key: `registration address ${place}`, ...address },
    ...(isInvited ? [] : [{ tenantId: serverTenant, key: 'registration strangers', ...strangers }]),
  ]
  await countAttempt(deps, buckets)
}
