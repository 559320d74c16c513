import type { Visibility } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { StoredAction } from '../action.ts'
import { type Audience, nobody } from '../audience.ts'

/** Did somebody give this action to the community? */
export function isForCommunity(
  { type, idTag }: Tenant,
  action: Pick<StoredAction, 'issuerTag' | 'audienceTag' | 'audience'>,
): boolean {
  if (type !== 'community' || action.issuerTag === idTag) return false
  return action.audienceTag === idTag || action.audience.includes(idTag)
}

/** Who in a community reads what was given to it. */
export function membersWhoRead(visibility: Visibility): Audience {
  if (visibility === null) return nobody
  return { named: [], circle: visibility === 'C' ? 'connections' : 'followers' }
}

/** And all who may hold it from before. */
export const formerMembers: Audience = { named: [], circle: 'ever' }
