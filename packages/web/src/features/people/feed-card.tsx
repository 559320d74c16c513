import type { ComponentProps } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { PostCard } from '#features/feed/screens.ts'
import { loadedFeed, loadFeed } from './load-feed.ts'

/** A post as the feed shows it. Of a list that this device has kept, the code comes after it. */
export function FeedCard(props: ComponentProps<typeof PostCard>) {
  const [feed, setFeed] = useState(loadedFeed)
  useEffect(() => {
    if (!feed) void loadFeed().then(setFeed, () => undefined)
  }, [feed])
  return feed ? <feed.PostCard {...props} /> : null
}
