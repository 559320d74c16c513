import type { IdTag } from '@kith/protocol'
import type { Settings } from '#features/settings/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import { onlyProviders, pageProviders } from '../list-providers.ts'
import { listCounters } from './zone-store.ts'

interface WatchDeps {
  readonly db: Database
  readonly tenants: Pick<Tenants, 'list' | 'listNow'>
  readonly settings: Pick<Settings, 'findNow'>
}

/** Each call of what it answers lists the zones that have changed since the call before, by any process; the first lists all. */
export function watchChanges(deps: WatchDeps): () => Promise<readonly IdTag[]> {
  let seen: ReadonlyMap<TenantId, number> | undefined
  return async () => {
    const counters = await listCounters(deps.db.reader(serverTenant))
    const changed = [...counters.keys()].filter((tenantId) => counters.get(tenantId) !== seen?.get(tenantId))
    const isEvery = seen === undefined || changed.includes(serverTenant)
    const zones = isEvery ? await listAll(deps) : await listThese(deps, changed)
    seen = counters
    return zones
  }
}

async function listAll(deps: WatchDeps): Promise<IdTag[]> {
  const pages = await Array.fromAsync(pageProviders(deps))
  return pages.flat().map(({ idTag }) => idTag)
}

async function listThese({ tenants, settings }: WatchDeps, tenantIds: readonly TenantId[]): Promise<IdTag[]> {
  if (tenantIds.length === 0) return []
  const changed = await tenants.listNow({ tenantIds, idTags: [] })
  return (await onlyProviders({ settings }, changed)).map(({ idTag }) => idTag)
}
