import type { IdTag } from '@kith/protocol'
import { type RelationEmitter, setRelation, withStatus } from '#features/relations/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { assertOthersLead } from './assert-others-lead.ts'
import type { Tenants } from './open-tenants.ts'
import { findTenantById, findTenantByIdTag, updateSuspension } from './tenant-store.ts'
import { assertNotRemoved } from './under-way.ts'

export interface SuspendDeps extends RelationEmitter {
  readonly tenants: Pick<Tenants, 'forget'>
  readonly clock: Clock
  /** Ends the sign-ins of the tenant of `tx`, so that a resumed tenant signs in anew. */
  revokeSessions(tx: Writer): Promise<void>
}

/** Suspends the tenant of `tx`: it answers no requests, its tokens are refused, and the server accepts nothing from it,
 * until it is resumed. `E-STATE` when it is the only leader of a community, or is being removed. */
export async function suspendTenant(deps: SuspendDeps, tx: Writer): Promise<void> {
  const tenant = await findTenantById(tx, tx.tenantId)
  if (tenant) {
    assertNotRemoved(tenant)
    await assertOthersLead(tx, tenant.idTag)
  }
  await updateSuspension(tx, nowSecs(deps.clock))
  await setServerStatus(deps, tx, 'Suspended')
  await deps.revokeSessions(tx)
  tx.afterCommit(() => deps.tenants.forget())
}

/** Ends a suspension, or a ban. `E-STATE` for a tenant that is being removed. */
export async function resumeTenant(deps: Omit<SuspendDeps, 'revokeSessions'>, tx: Writer): Promise<void> {
  const tenant = await findTenantById(tx, tx.tenantId)
  if (tenant) assertNotRemoved(tenant)
  await updateSuspension(tx, null)
  await setServerStatus(deps, tx, 'Active')
  tx.afterCommit(() => deps.tenants.forget())
}

/** Ends the suspension of an identity if it is a tenant and `tx` is the server's: other tenants suspend no one on the
 * server. One that is being removed stays suspended. */
export async function resumeNamed(
  deps: Omit<SuspendDeps, 'revokeSessions'>,
  tx: Writer,
  idTag: IdTag,
): Promise<void> {
  if (tx.tenantId !== serverTenant) return
  const tenant = await findTenantByIdTag(tx, idTag)
  if (tenant?.suspendedAt === undefined || tenant.underWay !== undefined) return
  await resumeTenant(deps, tx.as(tenant.tenantId))
}

async function setServerStatus(
  deps: Pick<SuspendDeps, 'clock' | 'emit'>,
  tx: Writer,
  status: 'Active' | 'Suspended',
): Promise<void> {
  const tenant = await findTenantById(tx, tx.tenantId)
  if (!tenant) return
  const change = { ...withStatus(status), at: nowSecs(deps.clock) }
  await setRelation(deps, tx.as(serverTenant), tenant.idTag, change)
}
