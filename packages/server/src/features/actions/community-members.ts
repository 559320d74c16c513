import type { IdTag, Visibility } from '@kith/protocol'
import { listAudience } from '#features/relations/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
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
