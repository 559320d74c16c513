import { type Action, type ActionStatus, type ActionTypeName, listActions } from '@kith/protocol'
import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
} from '@tanstack/preact-query'
import { client } from '#platform/client.ts'
import { queries } from '#platform/query.ts'

/** The keys of everything that shows notifications. */
export const notificationsKey = ['notifications'] as const

// Messages have their own place.
const types = ['REACT', 'CMNT', 'REPOST', 'FLLW', 'CONN', 'INVT', 'FSHR', 'POST', 'SHRE'] as const
// What is without a mark in the feed as well is told by its mark alone.
const pastTypes = ['REACT', 'CMNT', 'REPOST', 'FLLW', 'CONN', 'INVT', 'FSHR'] as const
const isPast: ReadonlySet<string> = new Set(pastTypes)
const readAtMost = 100

export interface NotificationPage {
  readonly actions: readonly Action[]
  readonly next: string | undefined
}

interface PageRequest {
  readonly type: readonly ActionTypeName[]
  readonly status: readonly ActionStatus[]
  readonly cursor: string
  readonly limit: number
  readonly signal: AbortSignal
}

async function listPage({ type, status, cursor, limit, signal }: PageRequest): Promise<NotificationPage> {
  const query = { type, status, limit, excludeOwn: true, ...(cursor === '' ? {} : { cursor }) }
  const { data, cursorPagination } = await client.call(listActions, { query }, { signal })
  return { actions: data, next: cursorPagination?.nextCursor ?? undefined }
}

const freshKey = [...notificationsKey, 'fresh'] as const

/** What is new, or waits for an answer. */
export const freshNotifications = infiniteQueryOptions({
  queryKey: freshKey,
  queryFn: async ({ pageParam: cursor, signal }) => {
    // The navigation counts as far as 99.
    const page = await listPage({ type: types, status: ['N', 'C'], cursor, limit: 100, signal })
    return cursor === '' ? withReadHere(page) : page
  },
  initialPageParam: '',
  getNextPageParam: ({ next }) => next,
})

/** Keeps mentions that were read in this tab: once the server has heard of it, it lists them no more, and they would
 * vanish from under the finger. */
function withReadHere(page: NotificationPage): NotificationPage {
  const known = queries.getQueryData<InfiniteData<NotificationPage>>(freshKey)?.pages ?? []
  const read = known
    .flatMap(({ actions }) => actions)
    .filter(({ type, status }) => status === 'A' && !isPast.has(type))
  const readIds = new Set(read.map(({ actionId }) => actionId))
  const listedIds = new Set(page.actions.map(({ actionId }) => actionId))
  const unlisted = read.filter(({ actionId }) => !listedIds.has(actionId)).slice(0, readAtMost)
  const listed = page.actions.map((one) =>
    readIds.has(one.actionId) ? { ...one, status: 'A' as const } : one,
  )
  return { ...page, actions: [...listed, ...unlisted] }
}

/** What happened, whether it is new or not. */
export const pastNotifications = infiniteQueryOptions({
  queryKey: [...notificationsKey, 'past'],
  queryFn: ({ pageParam: cursor, signal }) =>
    listPage({ type: pastTypes, status: ['A'], cursor, limit: 50, signal }),
  initialPageParam: '',
  getNextPageParam: ({ next }) => next,
})

// As many ids as one request names.
const idsAtOnce = 50

/** The actions that notifications are about, in one request for fifty. */
export const subjectsOf = (ids: readonly string[]) =>
  queryOptions({
    queryKey: [...notificationsKey, 'subjects', ids],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, Action>> => {
      const found = new Map<string, Action>()
      for (let from = 0; from < ids.length; from += idsAtOnce) {
        const query = { actionId: ids.slice(from, from + idsAtOnce), limit: idsAtOnce }
        const { data } = await client.call(listActions, { query }, { signal })
        for (const action of data) found.set(action.actionId, action)
      }
      return found
    },
    placeholderData: keepPreviousData,
  })
