import { KithError } from '@kith/client'
import { type Action, listMessages } from '@kith/protocol'
import { queryOptions } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'
import { queries } from '#platform/query.ts'
import { findConversation } from './conversations-query.ts'
import { addNewer, addOlder, asThread, type Part, type Thread, takeNewest } from './thread.ts'

const pageSize = 40

const threadKey = (conversationId: string) => ['messages', 'thread', conversationId] as const

/** A conversation as far as it is loaded; null where it has no message yet. */
export const threadOf = (conversationId: string) =>
  queryOptions({
    queryKey: threadKey(conversationId),
    queryFn: async ({ signal }): Promise<Thread | null> => {
      try {
        return await openThread(conversationId, signal)
      } catch (error) {
        if (error instanceof KithError && error.code === 'E-NOTFOUND') return null
        throw error
      }
    },
  })

/** At the first unread message, with some of what was before; at the end where all is read. What is there already is
 * brought up to date. */
async function openThread(conversationId: string, signal: AbortSignal): Promise<Thread> {
  const present = queries.getQueryData<Thread | null>(threadKey(conversationId))
  if (present) return takeNewest(present, await listPart(conversationId, { signal }))
  const firstUnreadId = findConversation(conversationId)?.firstUnreadId
  if (firstUnreadId === undefined) return asThread(await listPart(conversationId, { signal }))
  const [before, after] = await Promise.all([
    listPart(conversationId, { from: firstUnreadId, signal }),
    listPart(conversationId, { from: firstUnreadId, sortDir: 'asc', signal }),
  ])
  return { ...addNewer(asThread(before), after), firstUnreadId }
}

interface PartRequest {
  readonly from?: string | undefined
  readonly sortDir?: 'asc'
  readonly signal?: AbortSignal
}

async function listPart(conversationId: string, request: PartRequest): Promise<Part> {
  const { from, sortDir, signal } = request
  const query = {
    limit: pageSize,
    ...(from === undefined ? {} : { from }),
    ...(sortDir === undefined ? {} : { sortDir }),
  }
  const options = signal === undefined ? {} : { signal }
  const answer = await client.call(listMessages, { params: { conversationId }, query }, options)
  const messages: readonly Action[] = sortDir === 'asc' ? answer.data : answer.data.toReversed()
  return { messages, hasMore: answer.cursorPagination?.hasMore ?? false }
}

// Bound: the conversations that are shown.
const underWay = new Set<string>()

/** Loads more of a conversation; one request at a time in each direction. */
export async function loadMore(conversationId: string, direction: 'older' | 'newer'): Promise<void> {
  const thread = queries.getQueryData<Thread | null>(threadKey(conversationId))
  const edge = direction === 'older' ? thread?.messages[0] : thread?.messages.at(-1)
  const name = `${direction} ${conversationId}`
  if (!edge || underWay.has(name)) return
  underWay.add(name)
  try {
    const from = edge.actionId
    const part = await listPart(conversationId, direction === 'older' ? { from } : { from, sortDir: 'asc' })
    const add = direction === 'older' ? addOlder : addNewer
    changeThread(conversationId, (present) => add(present, part))
  } finally {
    underWay.delete(name)
  }
}

/** Shows the end of a conversation of which an earlier part is loaded. */
export async function jumpToEnd(conversationId: string): Promise<void> {
  const part = await listPart(conversationId, {})
  changeThread(conversationId, () => asThread(part))
}

/** Writes a change into a conversation that is loaded. */
export function changeThread(conversationId: string, change: (thread: Thread) => Thread): void {
  queries.setQueryData<Thread | null>(threadKey(conversationId), (thread) =>
    thread ? change(thread) : thread,
  )
}

/** Writes a change into every conversation that is loaded. */
export function changeThreads(change: (thread: Thread) => Thread): void {
  queries.setQueriesData<Thread | null>({ queryKey: ['messages', 'thread'] }, (thread) =>
    thread ? change(thread) : thread,
  )
}
