import { findRelation, hushesAnybody } from '#features/relations/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { actsAsTenant, type Viewer, viewerOf } from './viewer.ts'

/** The viewer that a caller is; one small query, none for guests. */
export async function findViewer(reader: Reader, tenant: Tenant, caller: Caller): Promise<Viewer> {
  if (caller.kind !== 'identity') return viewerOf(tenant, caller, {})
  if (actsAsTenant(caller, tenant)) return viewerOf(tenant, caller, { hushes: await hushesAnybody(reader) })
  return viewerOf(tenant, caller, { relation: await findRelation(reader, caller.idTag) })
}
