import type { ServerStorage } from '@kith/protocol'
import { listLargestUsers, sumUsage } from '#features/files/index.ts'
import type { HostedTenant, Tenants } from '#features/tenants/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { freeBytesOf } from '#infra/disk/index.ts'
import { adminViews } from './list-tenants.ts'

export interface StorageDeps {
  readonly db: Database
  readonly tenants: Pick<Tenants, 'listNow'>
  readonly dataDir: string
}

const mostLargest = 20

/** What is stored in all, what the disk has left, and the tenants that store most. */
export async function getStorage({ db, tenants, dataDir }: StorageDeps): Promise<ServerStorage> {
  const reader = db.reader(serverTenant)
  const tenantIds = await listLargestUsers(reader, mostLargest)
  const found = await tenants.listNow({ tenantIds, idTags: [] })
  const byId = new Map(found.map((tenant) => [tenant.tenantId, tenant]))
  const largest: HostedTenant[] = tenantIds.flatMap((tenantId) => byId.get(tenantId) ?? [])
  return {
    ...(await sumUsage(reader)),
    freeBytes: await freeBytesOf(dataDir),
    largest: await adminViews(reader, largest),
  }
}
