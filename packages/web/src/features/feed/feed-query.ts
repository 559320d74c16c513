import {
  type Action,
  getAction,
  listActions,
  listCollection,
  listDeliveries,
  listProfiles,
  type RequestOf,
} from '@kith/protocol'
import { infiniteQueryOptions, queryOptions } from '@tanstack/preact-query'
import { nextLook } from '#lib/delivery-looks.ts'
import { client } from '#platform/client.ts'
import { queries } from '#platform/query.ts'
import { queryStore } from '#platform/query-store.ts'
import { session } from '#platform/session.ts'
import { type FeedFilter, type FeedRow, feedTypes, type RowsPage, rowOf, withNewer } from './feed-rows.ts'

/** The keys of everything that this feature knows of the server. */
export const feedKey = ['feed'] as const
/** Of lists: pages of rows. */
export const rowsKey = [...feedKey, 'rows'] as const
/** Of what came after a list was loaded. */
export const newestKey = [...feedKey, 'newest'] as const
/** Of the comments below posts. */
export const threadsKey = [...rowsKey, 'thread'] as const
export const postKey = (actionId: string) => [...feedKey, 'post', actionId] as const

type ListQuery = NonNullable<RequestOf<typeof listActions>['query']>

/** Keeps an action under its id. */
export function keepPost(action: Action): void {
  queries.setQueryData(postKey(action.actionId), action)
}

/** Keeps a page of actions under their ids, with what the reposts among them are about. */
export async function keepPosts(actions: readonly Action[], signal: AbortSignal): Promise<void> {
  actions.forEach(keepPost)
  await loadSubjects(actions, signal)
}

async function loadRows(query: ListQuery, cursor: string, signal: AbortSignal): Promise<RowsPage> {
  const place = cursor === '' ? {} : { cursor }
  const { data, cursorPagination } = await client.call(
    listActions,
    { query: { status: ['A', 'N'], ...query, ...place } },
    { signal },
  )
  await keepPosts(data, signal)
  return { rows: data.map(rowOf), next: cursorPagination?.nextCursor ?? undefined }
}

/** What a page of reposts is about, in one request. */
async function loadSubjects(actions: readonly Action[], signal: AbortSignal): Promise<void> {
  const wanted = actions.flatMap(({ type, subject }) =>
    type !== 'POST' && subject?.startsWith('a1~') && !queries.getQueryData(postKey(subject)) ? [subject] : [],
  )
  if (wanted.length === 0) return
  const { data } = await client.call(listActions, { query: { actionId: wanted, limit: 100 } }, { signal })
  data.forEach(keepPost)
}

function queryOf(of: FeedFilter): ListQuery {
  const named = of.startsWith('#') ? { tag: of.slice(1) } : { involved: of }
  return { type: feedTypes, limit: 20, ...(of === 'all' || of === 'people' ? {} : named) }
}

/** The posts of the home feed, newest first, page by page. What is shown stays in its place: newer ones are `newestPosts`. */
export function homeFeed(of: FeedFilter) {
  return infiniteQueryOptions({
    queryKey: [...rowsKey, 'home', of],
    queryFn: ({ pageParam, signal }) => loadRows(queryOf(of), pageParam, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    staleTime: 'static',
  })
}

/** What came since the feed was loaded: by the bus, and by asking when the bus opens. */
export function newestPosts(of: FeedFilter) {
  const queryKey = [...newestKey, of]
  return queryOptions({
    queryKey,
    queryFn: async ({ signal }) => {
      const { rows } = await loadRows(queryOf(of), '', signal)
      // The bus goes on while the server answers.
      return withNewer(rows, queries.getQueryData<readonly FeedRow[]>(queryKey) ?? [])
    },
    initialData: [] as readonly FeedRow[],
  })
}

/** Asks what came between the loading of the feeds and now. */
export function askForNewest(): void {
  for (const queryKey of [newestKey, threadsKey]) void queries.invalidateQueries({ queryKey })
}

/** One action. Kept for as long as the tab lives, since lists refer to it. Bound: what was scrolled through. */
export function postQuery(actionId: string) {
  return queryOptions({
    queryKey: postKey(actionId),
    queryFn: async ({ signal }) => (await client.call(getAction, { params: { actionId } }, { signal })).data,
    gcTime: Number.POSITIVE_INFINITY,
  })
}

/** The comments below a post, the newest page first. */
export function threadQuery(rootId: string) {
  return infiniteQueryOptions({
    queryKey: [...threadsKey, rootId],
    queryFn: ({ pageParam, signal }) => loadRows({ type: ['CMNT'], rootId, limit: 50 }, pageParam, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
}

/** Communities that one belongs to or follows. */
export const communitiesQuery = queryOptions({
  queryKey: [...feedKey, 'communities'],
  queryFn: async ({ signal }) => {
    const { data } = await client.call(listProfiles, { query: { type: 'community', limit: 100 } }, { signal })
    return data.filter(({ following, connected }) => following || connected === 'connected')
  },
})

export const bookmarksKey = [...feedKey, 'bookmarks'] as const
const bookmarksAtMost = 1_000

/** The ids of bookmarked actions and files, the newest thousand. */
export const bookmarksQuery = queryOptions({
  queryKey: bookmarksKey,
  queryFn: async ({ signal }) => {
    const ids: string[] = []
    const request = { params: { collType: 'BKMK' as const }, query: { limit: 100 } }
    for await (const page of client.pages(listCollection, request, { signal })) {
      ids.push(...page.map(({ itemId }) => itemId))
      if (ids.length >= bookmarksAtMost) break
    }
    return ids
  },
})

export const bookmarks = queryStore(bookmarksQuery)

/** What the bookmarks lead to, fifty at a time. */
export const bookmarkedPosts = infiniteQueryOptions({
  queryKey: [...rowsKey, 'bookmarks'],
  queryFn: async ({ pageParam, signal }): Promise<RowsPage> => {
    const all = await queries.ensureQueryData(bookmarksQuery)
    const ids = all.filter((id) => id.startsWith('a1~'))
    const actionId = ids.slice(pageParam, pageParam + 50)
    const page = actionId.length > 0 ? await loadRows({ actionId, limit: 50 }, '', signal) : { rows: [] }
    const next = pageParam + 50 < ids.length ? String(pageParam + 50) : undefined
    return { rows: page.rows, next }
  },
  initialPageParam: 0,
  getNextPageParam: ({ next }) => (next === undefined ? undefined : Number(next)),
  // The bookmarks may have changed since.
  gcTime: 0,
})

export const repostsKey = [...feedKey, 'reposts'] as const

/** One's own reposts that stand: the id of each by its subject. The newest hundred. */
export const repostsQuery = queryOptions({
  queryKey: repostsKey,
  queryFn: async ({ signal }) => {
    const query = { type: ['REPOST'] as const, status: ['A', 'N'] as const, issuer: ownIdTag(), limit: 100 }
    const { data } = await client.call(listActions, { query }, { signal })
    return Object.fromEntries(data.map(({ subject, actionId }) => [subject ?? '', actionId])) as Readonly<
      Record<string, string | undefined>
    >
  },
})

export const reposts = queryStore(repostsQuery)

/** To which servers a post of one's own has come. */
export function deliveriesQuery({ actionId, createdAt }: Pick<Action, 'actionId' | 'createdAt'>) {
  return queryOptions({
    queryKey: [...feedKey, 'deliveries', actionId],
    queryFn: ({ signal }) =>
      client.call(listDeliveries, { params: { actionId }, query: { limit: 100 } }, { signal }),
    refetchInterval: ({ state }) => nextLook({ createdAt }, state.data?.data, state.dataUpdateCount),
    staleTime: 0,
    gcTime: 0,
  })
}

/** The identity whose app this is. */
export function ownIdTag(): string {
  const present = session.get()
  return 'login' in present ? present.login.idTag : ''
}
