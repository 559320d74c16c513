import { type Conversation, listConversations } from '@kith/protocol'
import { type InfiniteData, infiniteQueryOptions } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'
import { queries } from '#platform/query.ts'

interface ConversationPage {
  readonly conversations: readonly Conversation[]
  readonly next: string | undefined
}

/** The keys of everything that shows messages. */
export const messagesKey = ['messages'] as const

/** The conversations, the one with the newest message first, page by page. */
export const conversationList = infiniteQueryOptions({
  queryKey: [...messagesKey, 'conversations'],
  queryFn: async ({ pageParam, signal }): Promise<ConversationPage> => {
    const query = { limit: 30, ...(pageParam === '' ? {} : { cursor: pageParam }) }
    const { data, cursorPagination } = await client.call(listConversations, { query }, { signal })
    return { conversations: data, next: cursorPagination?.nextCursor ?? undefined }
  },
  initialPageParam: '',
  getNextPageParam: ({ next }) => next,
})

export function conversationsOf(data: InfiniteData<ConversationPage> | undefined): readonly Conversation[] {
  return data?.pages.flatMap((page) => page.conversations) ?? []
}

/** A conversation of those that are loaded. */
export function findConversation(conversationId: string): Conversation | undefined {
  return conversationsOf(queries.getQueryData(conversationList.queryKey)).find(
    (one) => one.conversationId === conversationId,
  )
}

/** Writes a change of one conversation into the list. */
export function changeConversation(conversationId: string, change: Partial<Conversation>): void {
  queries.setQueryData(conversationList.queryKey, (data) =>
    data === undefined
      ? undefined
      : {
          ...data,
          pages: data.pages.map((page) => ({
            ...page,
            conversations: page.conversations.map((one) =>
              one.conversationId === conversationId ? { ...one, ...change } : one,
            ),
          })),
        },
  )
}
