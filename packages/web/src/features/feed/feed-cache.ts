import type { Action } from '@kith/protocol'
import { queries } from '#platform/query.ts'
import {
  communitiesQuery,
  homeFeed,
  keepPost,
  newestKey,
  newestPosts,
  postKey,
  rowsKey,
  threadQuery,
} from './feed-query.ts'
import {
  belongsTo,
  type FeedFilter,
  type FeedRow,
  feedTypes,
  type RowsData,
  rowOf,
  withNewest,
  withoutRows,
} from './feed-rows.ts'

// What came while nobody looked; a feed with more is loaded anew.
export const newestAtMost = 100

/** Changes an action wherever it is shown. */
export function changePost(actionId: string, change: (post: Action) => Action): void {
  queries.setQueryData<Action>(postKey(actionId), (post) => post && change(post))
}

/** Takes an action that has come into the lists that it belongs to. Twice changes nothing. */
export function takePost(action: Action): void {
  const isNew = queries.getQueryData(postKey(action.actionId)) === undefined
  keepPost(action)
  if (action.type === 'CMNT') takeComment(action)
  else if (isNew && (feedTypes as readonly string[]).includes(action.type)) takeNewest(rowOf(action))
}

function takeComment(action: Action): void {
  const rootId = action.rootId ?? action.parentId
  if (rootId === undefined) return
  const { queryKey } = threadQuery(rootId)
  const take = () => void queries.setQueryData(queryKey, (data) => data && withNewest(data, [rowOf(action)]))
  take()
  const query = queries.getQueryCache().find({ queryKey })
  // What is being loaded may be from before.
  if (query?.state.fetchStatus === 'fetching') query.promise?.then(take, () => undefined)
}

function takeNewest(row: FeedRow): void {
  const communities = new Set(queries.getQueryData(communitiesQuery.queryKey)?.map(({ idTag }) => idTag))
  for (const [key, newest] of queries.getQueriesData<readonly FeedRow[]>({ queryKey: newestKey })) {
    const belongs = belongsTo(key.at(-1) as FeedFilter, row, communities)
    if (belongs === undefined) void queries.invalidateQueries({ queryKey: key })
    if (belongs && newest) queries.setQueryData(key, [row, ...newest].slice(0, newestAtMost))
  }
}

/** Shows what came in the meantime at the top of the feed. */
export function showNewest(of: FeedFilter, unseen: readonly FeedRow[]): void {
  const { queryKey } = homeFeed(of)
  // Between these and the first that is shown there may be more.
  if (unseen.length >= 20) reloadFeed(of)
  else queries.setQueryData(queryKey, (data) => data && withNewest(data, unseen))
  queries.setQueryData(newestPosts(of).queryKey, [])
}

/** Loads a feed anew from its beginning: one that is `static` is not asked for again by itself. */
function reloadFeed(of: FeedFilter): void {
  void queries.resetQueries({ queryKey: homeFeed(of).queryKey })
  void queries.fetchInfiniteQuery(homeFeed(of)).catch(() => undefined)
}

/** Loads anew whatever lists actions. */
export function reloadLists(): void {
  const feeds = { queryKey: [...rowsKey, 'home'] }
  queries.removeQueries({ ...feeds, type: 'inactive' })
  for (const [key] of queries.getQueriesData(feeds)) reloadFeed(key.at(-1) as FeedFilter)
  void queries.invalidateQueries({ queryKey: rowsKey })
}

/** Takes rows out of all lists; returns what puts them back. */
export function dropRows(isGone: (row: FeedRow) => boolean): () => void {
  const lists = queries.getQueriesData<RowsData>({ queryKey: rowsKey })
  const waiting = queries.getQueriesData<readonly FeedRow[]>({ queryKey: newestKey })
  for (const [key, data] of lists) if (data) queries.setQueryData(key, withoutRows(data, isGone))
  for (const [key, rows] of waiting)
    if (rows?.some(isGone))
      queries.setQueryData(
        key,
        rows.filter((row) => !isGone(row)),
      )
  return () => {
    for (const [key, data] of [...lists, ...waiting]) queries.setQueryData(key, data)
  }
}
