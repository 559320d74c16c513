import { nobody } from '../audience.ts'
import { formerMembers, isForCommunity } from '../community/community-members.ts'
import { doesMention } from '../mentions.ts'
import type { TypeHooks } from './type-hooks.ts'

/** What is said to everybody who may read it, or to a community, which passes it on. */
export const post: TypeHooks = {
  type: 'POST',
  ...givenToCommunities(),
}

/** Whatever members give to their community. */
export function givenToCommunities(): Pick<TypeHooks, 'admit' | 'isAnnounced' | 'findRelays'> {
  return {
    isAnnounced: true,
    admit: async ({ tenant, action }) => ({ isMarked: doesMention(action.content, tenant.idTag) }),
    findRelays: async (_, tenant, action) => (isForCommunity(tenant, action) ? formerMembers : nobody),
  }
}
