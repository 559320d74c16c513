import { type Action, type Conversation, type IdTag, toIso } from '@kith/protocol'
import type { Outgoing } from '#infra/http/index.ts'
import type { ListedConversation } from './conversation-list-store.ts'

/** A conversation as lists show it. */
export function conversationView(
  item: ListedConversation,
  shown: {
    readonly ownTag: IdTag
    readonly participants: ReadonlyMap<string, { name: string; profilePic: string | undefined }>
    readonly lastMessage: Outgoing<Action> | undefined
    readonly isRequest: boolean
  },
): Outgoing<Conversation> {
  const { conversationId, unread, rootId, lastAt, firstUnreadId } = item
  const { ownTag, lastMessage, isRequest } = shown
  const others = item.participants.filter((idTag) => idTag !== ownTag)
  return {
    conversationId,
    unread,
    participants: (others.length > 0 ? others : [ownTag]).map((idTag) => {
      const { name = idTag, profilePic } = shown.participants.get(idTag) ?? {}
      return { idTag, name, ...(profilePic === undefined ? {} : { profilePic }) }
    }),
    updatedAt: toIso(lastAt),
    ...(rootId && { rootId }),
    ...(firstUnreadId && { firstUnreadId }),
    ...(lastMessage && { lastMessage }),
    ...(isRequest && { request: true as const }),
  }
}
