import type { IdTag } from '@kith/protocol'
import {
  findRelation,
  isSuspendedOrBanned,
  type RelationEvent,
  setRelation,
  withStatus,
} from '#features/relations/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { assertOthersLead } from './assert-others-lead.ts'
import type { TenantEvent } from './events.ts'
import type { Tenants } from './open-tenants.ts'
import { findTenantById, findTenantByIdTag, updateSuspension } from './tenant-store.ts'
import { assertNotRemoved, assertWhole } from './under-way.ts'

export interface SuspendDeps {
  readonly emit: Emit<RelationEvent | TenantEvent>
  readonly tenants: Pick<Tenants, 'forget'>
  readonly clock: Clock
  /** Ends the sign-ins of the tenant of `tx`, so that a resumed tenant signs in anew. */
  revokeSessions(tx: Writer): Promise<void>
}

/** Suspends the tenant of `tx`: it answers no requests, its tokens are refused, and the server accepts nothing from it,
 * until it is resumed. A ban or a block of the server stays. `E-STATE` when it is the only leader of a community, or is
 * being removed. */
export async function suspendTenant(deps: SuspendDeps, tx: Writer): Promise<void> {
  const tenant = await findTenantById(tx, tx.tenantId)
  if (tenant) {
    assertNotRemoved(tenant)
    await assertOthersLead(tx, tenant.idTag)
  }
  await updateSuspension(tx, nowSecs(deps.clock))
  if (tenant) {
    await noteSuspended(deps, tx.as(serverTenant), tenant.idTag)
    await deps.emit(tx, { kind: 'hosted-name.changed', idTag: tenant.idTag })
  }
  await deps.revokeSessions(tx)
  if (tenant) await deps.emit(tx, { kind: 'tenant.suspended', idTag: tenant.idTag })
  tx.afterCommit(() => deps.tenants.forget())
}

/** Ends a suspension, or a ban, and no other decision of the server. `E-STATE` for a tenant that is not whole. */
export async function resumeTenant(deps: Omit<SuspendDeps, 'revokeSessions'>, tx: Writer): Promise<void> {
  const tenant = await findTenantById(tx, tx.tenantId)
  if (tenant) assertWhole(tenant)
  await updateSuspension(tx, null)
  if (tenant) {
    await noteActive(deps, tx.as(serverTenant), tenant.idTag)
    await deps.emit(tx, { kind: 'hosted-name.changed', idTag: tenant.idTag })
  }
  tx.afterCommit(() => deps.tenants.forget())
}

/** Ends the suspension of an identity if it is a tenant and `tx` is the server's: other tenants suspend no one on the
 * server. One that is not whole stays suspended. */
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

async function noteSuspended(
  deps: Pick<SuspendDeps, 'clock' | 'emit'>,
  tx: Writer,
  idTag: IdTag,
): Promise<void> {
  // A ban or a block says more, and outlives the tenant.
  if ((await findRelation(tx, idTag))?.isBlocked) return
  await setRelation(deps, tx, idTag, { ...withStatus('Suspended'), at: nowSecs(deps.clock) })
}

async function noteActive(
  deps: Pick<SuspendDeps, 'clock' | 'emit'>,
  tx: Writer,
  idTag: IdTag,
): Promise<void> {
  const decided = await findRelation(tx, idTag)
  // A mute, a block or trust is another decision.
  if (!decided || !isSuspendedOrBanned(decided)) return
  await setRelation(deps, tx, idTag, { ...withStatus('Active'), at: nowSecs(deps.clock) })
}
