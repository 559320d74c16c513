import type { Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import type { HostedTenant } from './tenant.ts'
import { findTenantByHost, insertTenant } from './tenant-store.ts'

/** Makes the row of a tenant that moves here with its keys and its profile. `E-PROFILE-EXISTS` when one of its
 * names is taken. */
export async function admitTenant(tx: Writer, tenant: Omit<HostedTenant, 'tenantId'>): Promise<HostedTenant> {
  for (const host of [tenant.idTag, tenant.appDomain])
    if (host !== undefined && (await findTenantByHost(tx, host))) throw new Failure('E-PROFILE-EXISTS')
  const tenantId = await insertTenant(tx, tenant)
  if (tenantId === undefined) throw new Failure('E-PROFILE-EXISTS')
  return { ...tenant, tenantId }
}
