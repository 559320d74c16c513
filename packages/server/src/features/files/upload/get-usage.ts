import { type StorageTier, storageKinds, type Usage, type UsageByKind } from '@kith/protocol'
import { actsAsTenant } from '#features/relations/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { sumTrash } from '../folders/trash-size-store.ts'
import { sumReserved } from './reservation-store.ts'
import type { ReserveDeps } from './reserve-storage.ts'
import { findUsage, findUsageByKind } from './storage-store.ts'

export interface UsageDeps extends Pick<ReserveDeps, 'db' | 'clock' | 'limitsOf'> {
  readonly tierOf: (tenant: Tenant) => Promise<StorageTier>
}

/** What the tenant stores, for whoever acts for it. */
export async function getUsage(
  deps: UsageDeps,
  { tenant, caller }: { readonly tenant: Tenant; readonly caller: Caller },
): Promise<Usage> {
  if (!actsAsTenant(caller, tenant)) throw new Failure('E-AUTH-FORBIDDEN')
  const { maxFileBytes, maxStorageBytes } = await deps.limitsOf(tenant.tenantId)
  const reader = deps.db.reader(tenant.tenantId)
  const { usedBytes, files } = await findUsage(reader)
  const reservedBytes = await sumReserved(reader, nowSecs(deps.clock))
  const tier = await deps.tierOf(tenant)
  return { usedBytes, reservedBytes, limitBytes: maxStorageBytes, files, maxFileBytes, tier }
}

/** What it stores of each kind, and what of it is in the trash. */
export async function getUsageByKind(
  { db }: Pick<UsageDeps, 'db'>,
  { tenant, caller }: { readonly tenant: Tenant; readonly caller: Caller },
): Promise<UsageByKind> {
  if (!actsAsTenant(caller, tenant)) throw new Failure('E-AUTH-FORBIDDEN')
  const reader = db.reader(tenant.tenantId)
  const { usedBytes, ...bytesOf } = await findUsageByKind(reader)
  const kinds = storageKinds.map((kind) => ({ kind, bytes: bytesOf[kind] }))
  return { usedBytes, kinds, trash: await sumTrash(reader) }
}
