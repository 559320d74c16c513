import type { IdTag } from '@kith/protocol'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import { listWithoutFiles, type ReadDeps } from './list-actions.ts'

/** Does the tenant hold an action of this issuer that its lists show the caller? */
export async function hasActionBy(
  deps: ReadDeps,
  { tenant, caller, issuer }: { readonly tenant: Tenant; readonly caller: Caller; readonly issuer: IdTag },
): Promise<boolean> {
  const { items } = await listWithoutFiles(deps, { tenant, caller, filter: { issuer }, limit: 1 })
  return items.length > 0
}
