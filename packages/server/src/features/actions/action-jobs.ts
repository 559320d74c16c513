import Type from 'typebox'
import type { Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import { jobKind } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { ActionPorts } from './action-event.ts'
import { listExpired, setStatus } from './action-store.ts'
import { sweepKeys } from './idempotency-store.ts'
import { hooksOf } from './types/index.ts'

/** Ends actions whose time is over, and forgets old idempotency keys; to be run every minute. */
export const sweepActionsJob = jobKind({
  name: 'actions.sweep',
  payload: Type.Object({}),
  retry: { maxAttempts: 5, firstDelayMs: 5_000, longestDelayMs: 60_000 },
  concurrency: 1,
  leaseMs: 60_000,
  keepDoneMs: 0,
})

export interface SweepDeps {
  readonly db: Database
  readonly clock: ActionPorts['clock']
  readonly onStored: ActionPorts['onStored']
  readonly findTenantById: (tenantId: TenantId) => Promise<Tenant | undefined>
}

// A transaction of this many is short enough for others to wait for.
const perTransaction = 100

/** Does the work of `sweepActionsJob`. */
export async function sweepActions(deps: SweepDeps): Promise<void> {
  const now = nowSecs(deps.clock)
  await deps.db.transact(serverTenant, (tx) => sweepKeys(tx, now))
  while ((await expireSome(deps, now)) === perTransaction);
}

async function expireSome(deps: SweepDeps, now: number): Promise<number> {
  const expired = await listExpired(deps.db.reader(serverTenant), now, perTransaction)
  const tenants = new Map<TenantId, Tenant | undefined>()
  for (const { tenantId } of expired) tenants.set(tenantId, await deps.findTenantById(tenantId))
  await deps.db.transact(serverTenant, async (tx) => {
    for (const { tenantId, action } of expired) {
      const own = tx.as(tenantId)
      await setStatus(own, action.actionId, 'D')
      const tenant = tenants.get(tenantId)
      if (!tenant) continue
      await hooksOf(action.type).onEnd?.({ tx: own, tenant, action, at: now })
      await deps.onStored(own, { kind: 'deleted', tenant, action: { ...action, status: 'D' } })
    }
  })
  return expired.length
}
