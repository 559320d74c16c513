import { type IdTag, roleLevel, type Visibility } from '@kith/protocol'
import { findEffectiveRelation, listAudience, roleOf } from '#features/relations/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import type { StoredAction } from './action.ts'

/** Did somebody give this action to the community? */
export function isForCommunity(
  { type, idTag }: Tenant,
  action: Pick<StoredAction, 'issuerTag' | 'audienceTag' | 'audience'>,
): boolean {
  if (type !== 'community' || action.issuerTag === idTag) return false
  return action.audienceTag === idTag || action.audience.includes(idTag)
}

/** Who in a community reads what was given to it (DECISIONS part 9); `ever`: and may hold it from before. */
export function listMembers(reader: Reader, visibility: Visibility | 'ever'): Promise<IdTag[]> {
  switch (visibility) {
    case null:
      return Promise.resolve([])
    case 'C':
      return listAudience(reader, 'connections')
    case 'ever':
      return listAudience(reader, 'ever')
    default:
      return listAudience(reader, 'followers')
  }
}

/** Only who contributes to the community of `reader` posts there. */
export async function assertContributes(reader: Reader, idTag: IdTag): Promise<void> {
  const relation = await findEffectiveRelation(reader, idTag)
  const role = relation ? roleOf(relation) : 'public'
  if (roleLevel(role) < roleLevel('contributor')) throw new Failure('E-AUTH-FORBIDDEN')
}
