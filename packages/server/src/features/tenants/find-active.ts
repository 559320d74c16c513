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
  const found = await tenants.find(idTag)
  return found?.suspendedAt === undefined ? found : undefined
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
