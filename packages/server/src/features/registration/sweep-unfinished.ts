import { hasSignInMethod, listSessions, personalMethods } from '#features/accounts/index.ts'
import { listLedAlone } from '#features/relations/index.ts'
import {
  type HostedTenant,
  noteRemoval,
  type SuspendDeps,
  suspendTenant,
  type Tenants,
} from '#features/tenants/index.ts'
import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import { type Jobs, recurring } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { deleteUnfinished, listExpired, putUnfinished } from './unfinished-store.ts'

interface SweepUnfinishedDeps extends SuspendDeps {
  readonly db: Database
  readonly tenants: Pick<Tenants, 'findById' | 'forget'>
  /** Removes a suspended tenant with everything that belongs to it. Done again, it goes on where it was interrupted. */
  removeTenant(tenant: HostedTenant): Promise<void>
}

const atOnce = 100
const daySecs = 24 * 3600
// Until then another process may not know of the suspension, and answers for the tenant.
const noticedSecs = 60

/** Removes accounts that were registered and never used. */
export function addUnfinishedSweep(jobs: Pick<Jobs, 'handle'>, deps: SweepUnfinishedDeps): void {
  const run = () => sweepUnfinished(deps)
  recurring(jobs, { name: 'registration.sweep-unfinished', everyMs: 10 * 60_000, run })
}

export async function sweepUnfinished(deps: SweepUnfinishedDeps): Promise<void> {
  const { db, clock, tenants } = deps
  for (const personId of await listExpired(db.reader(serverTenant), nowSecs(clock), atOnce)) {
    const tenant = await tenants.findById(personId)
    const isToGo = tenant && (await db.transact(personId, (tx) => judge(deps, tx, tenant)))
    if (isToGo) await deps.removeTenant(tenant)
    if (isToGo || !tenant) await db.transact(personId, (tx) => deleteUnfinished(tx, personId))
  }
}

/** True when the tenant is to go now. It is suspended first, so that no password is set meanwhile. */
async function judge(deps: SweepUnfinishedDeps, tx: Writer, tenant: HostedTenant): Promise<boolean> {
  const { tenantId: personId, idTag, suspendedAt } = tenant
  const now = nowSecs(deps.clock)
  if (await hasSignInMethod(tx)) {
    await deleteUnfinished(tx, personId)
    return false
  }
  if (suspendedAt !== undefined) {
    if (suspendedAt + noticedSecs > now) return false
    await noteRemoval(deps, tx)
    return true
  }
  // An account may be used by a session or an API key alone, and a community needs its leader.
  const methods = [...personalMethods, 'apikey'] as const
  const isInUse =
    (await listSessions(tx, { callerTag: idTag, methods, liveAt: now })).length > 0 ||
    (await listLedAlone(tx, idTag)).length > 0
  if (isInUse) await putUnfinished(tx, { personId, expiresAt: now + daySecs })
  else await suspendTenant(deps, tx)
  return false
}
