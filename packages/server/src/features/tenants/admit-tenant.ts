import type { Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import type { Tenants } from './open-tenants.ts'
import type { HostedTenant } from './tenant.ts'
import { deleteTenant, findTenantByHost, insertTenant, updateSuspension } from './tenant-store.ts'

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

/** Everything has come along: the tenant of `tx` takes part. What administrators have decided about its name stays. */
export async function endAdmission({ tenants }: ForgetDeps, tx: Writer): Promise<void> {
  await updateSuspension(tx, null)
  tx.afterCommit(() => tenants.forget())
}

/** Takes back the row of the tenant of `tx` and nothing else: it never took part, so nothing follows for its name. */
export async function withdrawAdmission({ tenants }: ForgetDeps, tx: Writer): Promise<void> {
  await deleteTenant(tx)
  tx.afterCommit(() => tenants.forget())
}
