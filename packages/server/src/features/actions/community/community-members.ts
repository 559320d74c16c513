import type { Visibility } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { StoredAction } from '../action.ts'
import { type Audience, nobody } from '../audience.ts'

/** Was this action posted to the community by another identity? */
export function isForCommunity(
  { type, idTag }: Tenant,
  action: Pick<StoredAction, 'issuerTag' | 'audienceTag' | 'audience'>,
): boolean {
  if (type !== 'community' || action.issuerTag === idTag) return false
  return action.audienceTag === idTag || action.audience.includes(idTag)
}

/** The members of a community who read what was posted to it. */
export function membersWhoRead(visibility: Visibility): Audience {
  if (visibility === null) return nobody
  return { named: [], circle: visibility === 'C' ? 'connections' : 'followers' }
}

/** All members and former members: everybody who may still hold it. */
export const formerMembers: Audience = { named: [], circle: 'ever' }
