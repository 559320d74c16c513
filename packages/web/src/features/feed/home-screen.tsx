import { useRef } from 'preact/hooks'
import { useLocation, useSearchParams } from 'wouter-preact'
import { Button } from '#ui/button.tsx'
import { ButtonLink } from '#ui/button-link.tsx'
import { Empty } from '#ui/empty.tsx'
import { Problem } from '#ui/problem.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { ScreenTitle } from '#ui/screen-title.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { showNewest } from './feed-cache.ts'
import { FeedFilterField } from './feed-filter.tsx'
import type { FeedFilter } from './feed-rows.ts'
import { feedTexts } from './feed-texts.ts'
import styles from './home-screen.module.css'
import { PostList } from './post-list.tsx'
import { RefreshFeed } from './refresh-feed.tsx'
import { useHomeFeed } from './use-home-feed.ts'

/** The posts of those whom one follows and of one's communities, by time. */
export function HomeScreen() {
  const t = useTexts(feedTexts)
  const [search] = useSearchParams()
  const [, navigate] = useLocation()
  const of = search.get('of') || 'all'
  const change = (to: FeedFilter) => navigate(to === 'all' ? '/' : `/?of=${encodeURIComponent(to)}`)
  return (
    <div class="stack">
      <div class={styles.top}>
        <ScreenTitle>{t.home}</ScreenTitle>
        <div class="row">
          <FeedFilterField of={of} onChange={change} />
          <RefreshFeed key={of} of={of} />
        </div>
      </div>
      <Feed key={of} of={of} />
    </div>
  )
}

function Feed({ of }: { readonly of: FeedFilter }) {
  const t = useTexts(feedTexts)
  const { feed, rows, unseen, marked, onEnd } = useHomeFeed(of)
  const top = useRef<HTMLDivElement>(null)
  const show = () => {
    showNewest(of, unseen)
    window.scrollTo({ top: 0 })
    requestAnimationFrame(() =>
      top.current?.querySelector<HTMLElement>('[data-post]')?.focus({ preventScroll: true }),
    )
  }
  if (!feed.data) return <QueryState query={feed} heights={[160, 320, 160]} what={t.failed} />
  return (
    <div ref={top} class="stack">
      <div class={styles.unseen} aria-live="polite">
        {unseen.length > 0 && (
          <Button kind="primary" onClick={show}>
            {t.unseen(unseen.length)}
          </Button>
        )}
      </div>
      {rows.length > 0 && (
        <PostList
          name={of}
          rows={rows}
          isWhole={!feed.hasNextPage}
          isBusy={feed.isFetchingNextPage}
          marked={marked}
          onEnd={onEnd}
        />
      )}
      {rows.length === 0 && !feed.hasNextPage && <EmptyFeed of={of} />}
      <FeedEnd feed={feed} isEmpty={rows.length === 0} />
    </div>
  )
}

function EmptyFeed({ of }: { readonly of: FeedFilter }) {
  const t = useTexts(feedTexts)
  if (of !== 'all')
    return <Empty icon="search" title={t.emptyFilter} step={<ButtonLink href="/">{t.showAll}</ButtonLink>} />
  return (
    <Empty
      icon="house"
      title={t.empty}
      step={
        <ButtonLink href="/new" icon="square-pen" kind="primary">
          {t.write}
        </ButtonLink>
      }
    >
      {t.emptyWhy}
    </Empty>
  )
}

interface FeedEndProps {
  readonly feed: ReturnType<typeof useHomeFeed>['feed']
  readonly isEmpty: boolean
}

function FeedEnd({ feed, isEmpty }: FeedEndProps) {
  const t = useTexts(feedTexts)
  const more = () => void feed.fetchNextPage()
  if (feed.isFetchNextPageError) return <Problem error={feed.error} what={t.failedMore} onAgain={more} />
  if (feed.hasNextPage)
    return (
      <div class={styles.end}>
        <Button isBusy={feed.isFetchingNextPage} onClick={more}>
          {t.more}
        </Button>
      </div>
    )
  return isEmpty ? null : <p class={styles.end}>{t.end}</p>
}
