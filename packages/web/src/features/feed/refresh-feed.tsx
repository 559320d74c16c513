import { queries } from '#platform/query.ts'
import { Refresh } from '#ui/refresh.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { newestPosts } from './feed-query.ts'
import type { FeedFilter } from './feed-rows.ts'
import { feedTexts } from './feed-texts.ts'

/** Asks for what is new. What came is offered as new posts are. */
export function RefreshFeed({ of }: { readonly of: FeedFilter }) {
  const t = useTexts(feedTexts)
  const ask = () => queries.fetchQuery({ ...newestPosts(of), staleTime: 0, retry: false })
  return <Refresh of={ask} label={t.refresh} failed={t.failed} />
}
