import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { findEffectiveRelation, findsBlocksOrMutes } from '../relation-store.ts'
import { findSilenceFacts } from './silenced-predicate.ts'
import { actsAsTenant, type Viewer, viewerOf } from './viewer.ts'

/** The viewer for a caller, by one to three small queries. For `one` action it does not ask whether anybody at
 * all is blocked, muted or silenced, because to look up its issuer costs less. */
export async function findViewer(
  reader: Reader,
  tenant: Tenant,
  caller: Caller,
  looksAt: 'one' | 'many' = 'many',
): Promise<Viewer> {
  const actsAs = actsAsTenant(caller, tenant)
  const mayBlockOrMute = actsAs || tenant.type === 'community'
  const hasBlocksOrMutes = mayBlockOrMute && (looksAt === 'one' || (await findsBlocksOrMutes(reader)))
  if (actsAs) return viewerOf(tenant, caller, { hasBlocksOrMutes })
  const silences = looksAt === 'one' ? [] : await findSilenceFacts(reader)
  if (caller.kind !== 'identity') return viewerOf(tenant, caller, { hasBlocksOrMutes, silences })
  return viewerOf(tenant, caller, {
    relation: await findEffectiveRelation(reader, caller.idTag),
    hasBlocksOrMutes,
    silences,
  })
}
