import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { findEffectiveRelation, findsBlocksOrMutes } from '../relation-store.ts'
import { actsAsTenant, type Viewer, viewerOf } from './viewer.ts'

/** The viewer for a caller, by one or two small queries, or none for guests of persons. For `one` action it does not
 * find out whether anybody is blocked or muted, because looking up its issuer costs less. */
export async function findViewer(
  reader: Reader,
  tenant: Tenant,
  caller: Caller,
  looksAt: 'one' | 'many' = 'many',
): Promise<Viewer> {
  const actsAs = actsAsTenant(caller, tenant)
  const mayBlockOrMute = actsAs || tenant.type === 'community'
  const hasBlocksOrMutes = mayBlockOrMute && (looksAt === 'one' || (await findsBlocksOrMutes(reader)))
  if (actsAs || caller.kind !== 'identity') return viewerOf(tenant, caller, { hasBlocksOrMutes })
  return viewerOf(tenant, caller, {
    relation: await findEffectiveRelation(reader, caller.idTag),
    hasBlocksOrMutes,
  })
}
