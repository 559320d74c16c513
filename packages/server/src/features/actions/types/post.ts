import { nobody } from '../audience.ts'
import { formerMembers, isForCommunity } from '../community/community-members.ts'
import { doesMention } from '../mentions.ts'
import type { TypeHooks } from './type-hooks.ts'

/** Posts, for everybody who may read them, or for a community, which announces them to its members. */
export const post: TypeHooks = {
  type: 'POST',
  ...givenToCommunities(),
}

/** The hooks of the types that members post to a community. */
export function givenToCommunities(): Pick<TypeHooks, 'admit' | 'isAnnounced' | 'findRelays'> {
  return {
    isAnnounced: true,
    admit: async ({ tenant, action }) => ({ isMarked: doesMention(action.content, tenant.idTag) }),
    findRelays: async (_, tenant, action) => (isForCommunity(tenant, action) ? formerMembers : nobody),
  }
}
