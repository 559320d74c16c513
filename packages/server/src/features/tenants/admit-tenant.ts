import { findRelation, isSuspendedOrBanned } from '#features/relations/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import type { Tenants } from './open-tenants.ts'
import type { HostedTenant } from './tenant.ts'
import {
  deleteTenant,
  findTenantByHost,
  findTenantById,
  insertTenant,
  updateSuspension,
  updateUnderWay,
} from './tenant-store.ts'

/** Makes the row of a tenant that moves here with its keys and its profile, at `hostedSince` (Unix seconds).
 * `E-PROFILE-EXISTS` when one of its names is taken. */
export async function admitTenant(
  tx: Writer,
  tenant: Omit<HostedTenant, 'tenantId'>,
  hostedSince: number,
): Promise<HostedTenant> {
  for (const host of [tenant.idTag, tenant.appDomain])
    if (host !== undefined && (await findTenantByHost(tx, host))) throw new Failure('E-PROFILE-EXISTS')
  const tenantId = await insertTenant(tx, tenant, hostedSince)
  if (tenantId === undefined) throw new Failure('E-PROFILE-EXISTS')
  return { ...tenant, tenantId }
}

interface ForgetDeps {
  readonly tenants: Pick<Tenants, 'forget'>
}

/** Fails with `E-STATE` when the admission of the tenant of `tx` is over: somebody has taken it back. */
export async function assertAdmitted(tx: Writer): Promise<HostedTenant> {
  const tenant = await findTenantById(tx, tx.tenantId)
  if (tenant?.underWay === 'import') return tenant
  throw new Failure('E-STATE', { message: 'Somebody has taken back what this import has brought.' })
}

/** Everything has come along: the tenant of `tx` takes part, unless it came suspended, or administrators have suspended or
 * banned it meanwhile. What they have decided about its name stays. Answers the tenant as it is then. */
export async function endAdmission(
  { tenants }: ForgetDeps,
  tx: Writer,
  { isSuspended }: { readonly isSuspended: boolean },
): Promise<HostedTenant> {
  const { underWay: _, suspendedAt, ...active } = await assertAdmitted(tx)
  const decided = await findRelation(tx.as(serverTenant), active.idTag)
  const staysSuspended = isSuspended || (decided !== undefined && isSuspendedOrBanned(decided))
  await updateUnderWay(tx, null)
  if (!staysSuspended) await updateSuspension(tx, null)
  tx.afterCommit(() => tenants.forget())
  return staysSuspended && suspendedAt !== undefined ? { ...active, suspendedAt } : active
}

/** Takes back the row of the tenant of `tx` and nothing else: it never took part, so nothing follows for its name. */
export async function withdrawAdmission({ tenants }: ForgetDeps, tx: Writer): Promise<void> {
  await deleteTenant(tx)
  tx.afterCommit(() => tenants.forget())
}
