import { useInfiniteQuery, useQuery } from '@tanstack/preact-query'
import { useMemo } from 'preact/hooks'
import { ButtonLink } from '#ui/button-link.tsx'
import { Empty } from '#ui/empty.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { ScreenTitle } from '#ui/screen-title.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { bookmarkedPosts, bookmarksQuery } from './feed-query.ts'
import { rowsOf } from './feed-rows.ts'
import { feedTexts } from './feed-texts.ts'
import { PostList } from './post-list.tsx'

/** The posts that one has kept a bookmark of, the newest bookmark first. */
export function BookmarksScreen() {
  const t = useTexts(feedTexts)
  const bookmarks = useQuery(bookmarksQuery)
  const posts = useInfiniteQuery({ ...bookmarkedPosts, enabled: bookmarks.isSuccess })
  const kept = bookmarks.data
  const rows = useMemo(() => {
    const places = new Map(kept?.map((id, at) => [id, at]))
    // What has lost its bookmark while one looks goes from the list.
    return rowsOf(posts.data)
      .filter(({ actionId }) => places.has(actionId))
      .sort((a, b) => (places.get(a.actionId) ?? 0) - (places.get(b.actionId) ?? 0))
  }, [posts.data, kept])
  return (
    <div class="stack">
      <ScreenTitle>{t.bookmarks}</ScreenTitle>
      <QueryState query={bookmarks.data ? posts : bookmarks} heights={[160, 320, 160]} what={t.failed} />
      {posts.data && rows.length === 0 && !posts.hasNextPage && (
        <Empty icon="bookmark" title={t.noBookmarks} step={<ButtonLink href="/">{t.toHome}</ButtonLink>}>
          {t.noBookmarksWhy}
        </Empty>
      )}
      {rows.length > 0 && (
        <PostList
          name="bookmarks"
          rows={rows}
          isWhole={!posts.hasNextPage}
          isBusy={posts.isFetchingNextPage}
          onEnd={() => posts.hasNextPage && !posts.isFetchingNextPage && void posts.fetchNextPage()}
        />
      )}
    </div>
  )
}
