import { findRelation } from '#features/relations/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { actsAsTenant, type Viewer, viewerOf } from './viewer.ts'

/** The viewer that a caller is; asks the database only about identities that are not the tenant's own. */
export async function findViewer(reader: Reader, tenant: Tenant, caller: Caller): Promise<Viewer> {
  const isStranger = caller.kind === 'identity' && !actsAsTenant(caller, tenant)
  return viewerOf(tenant, caller, isStranger ? await findRelation(reader, caller.idTag) : undefined)
}
