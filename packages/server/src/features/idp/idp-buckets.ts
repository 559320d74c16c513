import type { IdTag } from '@kith/protocol'
import { type AttemptBucket, countAttempt } from '#features/accounts/index.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import { rateKeyOf } from '#infra/http/index.ts'
import type { Clock } from '#lib/clock.ts'

interface Deps {
  readonly db: Database
  readonly clock: Clock
}

const minuteMs = 60_000

// A server on which people register does so from one address.
const address = { burst: 30, refillMs: 2 * minuteMs }
// All registrars together: with the week that a name may be pending, some 5 000 names that are never activated.
const registrars = { burst: 60, refillMs: 2 * minuteMs }

// Any tenant may be a provider, and each name may mean a mail.
const owner = { burst: 200, refillMs: minuteMs }
// A machine whose address changes all the time; each time is a line in the audit trail.
const moves = { burst: 30, refillMs: minuteMs }

/** Counts a name before it is given. `E-RATELIMIT` when there were too many. */
export async function countName(
  deps: Deps,
  { tenantId, ip, isProvider }: { readonly tenantId: TenantId; readonly ip: string; isProvider: boolean },
): Promise<void> {
  const ofOthers: AttemptBucket[] = [
    { tenantId: serverTenant, key: `names address ${rateKeyOf(ip)}`, ...address },
    { tenantId, key: 'names registrars', ...registrars },
  ]
  await countAttempt(deps, isProvider ? [{ tenantId, key: 'names owner', ...owner }] : ofOthers)
}

/** Counts a change of an identity's address before it is made. `E-RATELIMIT` when there were too many. */
export async function countMove(
  deps: Deps,
  { tenantId, idTag }: { readonly tenantId: TenantId; readonly idTag: IdTag },
): Promise<void> {
  await countAttempt(deps, [{ tenantId, key: `names move ${idTag}`, ...moves }])
}
