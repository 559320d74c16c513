import { useInfiniteQuery, useQuery } from '@tanstack/preact-query'
import { useCallback, useEffect, useMemo, useRef } from 'preact/hooks'
import { showNewest } from './feed-cache.ts'
import { communitiesQuery, homeFeed, newestPosts, ownIdTag } from './feed-query.ts'
import { belongsTo, type FeedFilter, rowsOf, unseenOf } from './feed-rows.ts'
import { markedRow, noteSeen } from './last-seen.ts'

/** The home feed as the screen shows it. */
export function useHomeFeed(of: FeedFilter) {
  const feed = useInfiniteQuery(homeFeed(of))
  const { data: communities } = useQuery(communitiesQuery)
  const { data: newest } = useQuery({ ...newestPosts(of), enabled: feed.isSuccess })
  const fits = useMemo(() => {
    const names = new Set(communities?.map(({ idTag }) => idTag))
    // Communities are told from people here; the other filters are the server's.
    return (row: Parameters<typeof belongsTo>[1]) => of !== 'people' || belongsTo(of, row, names) === true
  }, [of, communities])
  const rows = useMemo(() => rowsOf(feed.data).filter(fits), [feed.data, fits])
  const unseen = useMemo(() => {
    if (!feed.isSuccess) return []
    const loadedTo = feed.hasNextPage ? rowsOf(feed.data).at(-1) : undefined
    return unseenOf(newest, rows, { loadedTo }).filter(fits)
  }, [newest, rows, fits, feed.isSuccess, feed.hasNextPage, feed.data])
  useEffect(() => {
    const now = new Date().toISOString()
    for (const { createdAt } of rows) if (createdAt <= now) noteSeen(createdAt)
  }, [rows])
  useAtOnce(of, unseen, feed.isSuccess && rows.length === 0)
  return {
    feed,
    rows,
    unseen,
    marked: useMemo(() => markedRow(rows), [rows]),
    onEnd: useMore(feed, rows.length),
  }
}

/** Loads the next page once for each length of the list: where a page brings nothing that fits, a button goes on. */
function useMore(feed: ReturnType<typeof useInfiniteQuery>, length: number) {
  const askedAt = useRef(-1)
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = feed
  return useCallback(() => {
    if (!hasNextPage || isFetchingNextPage || isFetchNextPageError || askedAt.current === length) return
    askedAt.current = length
    void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, length])
}

/** What one has just written oneself stands at the top, if that is where one is; and in an empty feed there is nothing that
 * could jump. */
function useAtOnce(of: FeedFilter, unseen: ReturnType<typeof unseenOf>, isEmpty: boolean): void {
  useEffect(() => {
    const isOwn = unseen.length > 0 && unseen.every(({ issuerTag }) => issuerTag === ownIdTag())
    if ((isOwn && window.scrollY < 100) || (isEmpty && unseen.length > 0)) showNewest(of, unseen)
  }, [of, unseen, isEmpty])
}
