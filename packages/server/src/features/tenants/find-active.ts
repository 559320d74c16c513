import type { IdTag } from '@kith/protocol'
import type { TenantId } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import type { Tenants } from './open-tenants.ts'
import type { HostedTenant } from './tenant.ts'

/** A tenant of this server that is not suspended. */
export async function findActive(
  tenants: Pick<Tenants, 'find'>,
  idTag: IdTag,
): Promise<HostedTenant | undefined> {
  return active(await tenants.find(idTag))
}

/** The same by its number. */
export async function findActiveById(
  tenants: Pick<Tenants, 'findById'>,
  tenantId: TenantId,
): Promise<HostedTenant | undefined> {
  return active(await tenants.findById(tenantId))
}

function active(tenant: HostedTenant | undefined): HostedTenant | undefined {
  return tenant?.suspendedAt === undefined ? tenant : undefined
}

/** A tenant by its number, for jobs; fails with `E-PROFILE-NOTFOUND` when it has gone. */
export async function getTenant(
  tenants: Pick<Tenants, 'findById'>,
  tenantId: TenantId,
): Promise<HostedTenant> {
  const tenant = await tenants.findById(tenantId)
  if (!tenant) throw new Failure('E-PROFILE-NOTFOUND')
  return tenant
}
