import type { StorageTier, Usage } from '@kith/protocol'
import { actsAsTenant } from '#features/visibility/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import { Failure } from '#lib/failure.ts'
import type { ReserveDeps } from './reserve-storage.ts'
import { findUsage } from './storage-store.ts'

export interface UsageDeps extends Pick<ReserveDeps, 'db' | 'limitsOf'> {
  readonly tierOf: (tenant: Tenant) => Promise<StorageTier>
}

/** What the tenant stores, for whoever acts for it. */
export async function getUsage(
  deps: UsageDeps,
  { tenant, caller }: { readonly tenant: Tenant; readonly caller: Caller },
): Promise<Usage> {
  if (!actsAsTenant(caller, tenant)) throw new Failure('E-AUTH-FORBIDDEN')
  const { maxFileBytes, maxStorageBytes } = await deps.limitsOf(tenant.tenantId)
  const { usedBytes, files } = await findUsage(deps.db.reader(tenant.tenantId))
  return { usedBytes, limitBytes: maxStorageBytes, files, maxFileBytes, tier: await deps.tierOf(tenant) }
}
