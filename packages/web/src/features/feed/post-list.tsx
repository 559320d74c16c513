import { useEffect, useMemo } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { Kept } from '#ui/kept.ts'
import { useTexts } from '#ui/use-texts.ts'
import { type ListPlace, useWindowList } from '#ui/use-window-list.ts'
import type { FeedRow } from './feed-rows.ts'
import { feedTexts } from './feed-texts.ts'
import styles from './post.module.css'
import { PostCardById } from './post-card.tsx'
import { postPath } from './post-head.tsx'
import { usePostKeys } from './use-post-keys.ts'

interface PostListProps {
  /** Of the list, so that it goes on where it was left. */
  readonly name: string
  readonly rows: readonly FeedRow[]
  readonly isWhole: boolean
  readonly isBusy: boolean
  /** The row above which the mark of the last visit stands. */
  readonly marked?: string | undefined
  /** Called when the end comes near. */
  readonly onEnd?: (() => void) | undefined
}

interface Left extends ListPlace {
  readonly focused: string | undefined
}

// Of the feeds that were looked at. Bound: twenty, the oldest goes.
const places = new Map<string, Left>()

/** Posts one below the other; those that are far from what is seen are not rendered. */
export function PostList({ name, rows, isWhole, isBusy, marked, onEnd }: PostListProps) {
  const t = useTexts(feedTexts)
  const [, navigate] = useLocation()
  const keys = useMemo(() => rows.map(({ actionId }) => actionId), [rows])
  const place = useMemo(() => places.get(name), [name])
  const onLeave = (left: ListPlace) => keepPlace(name, left)
  const { list, container, height, topOf } = useWindowList({ keys, estimate: 320, gap: 16, place, onLeave })
  const open = useMemo(() => (actionId: string) => navigate(postPath(actionId)), [navigate])
  usePostKeys(open)
  const shown = list.getVirtualItems()
  useFocusAgain(place?.focused, shown.length > 0)
  const last = shown.at(-1)?.index ?? -1
  useEffect(() => {
    if (last >= rows.length - 5) onEnd?.()
  }, [last, rows.length, onEnd])
  return (
    <div
      ref={container}
      role="feed"
      aria-label={t.feed}
      aria-busy={isBusy}
      style={{ position: 'relative', height }}
    >
      {shown.map((post) => (
        <div
          key={post.key}
          ref={list.measureElement}
          data-index={post.index}
          style={{ position: 'absolute', insetInline: 0, contain: 'layout style', top: topOf(post) }}
        >
          <Kept by={[post.key, post.index, isWhole && rows.length, post.key === marked, t]}>
            {() => (
              <PostCardById
                actionId={String(post.key)}
                position={post.index + 1}
                of={isWhole ? rows.length : -1}
              >
                {post.key === marked && <p class={styles.leftOff}>{t.leftOff}</p>}
              </PostCardById>
            )}
          </Kept>
        </div>
      ))}
    </div>
  )
}

/** The focus goes back to the post that it was on when the list was left. */
function useFocusAgain(actionId: string | undefined, isRendered: boolean): void {
  useEffect(() => {
    const articles = isRendered ? document.querySelectorAll<HTMLElement>('[data-post]') : []
    const before = [...articles].find(({ dataset }) => dataset.post === actionId)
    before?.focus({ preventScroll: true })
  }, [actionId, isRendered])
}

function keepPlace(name: string, place: ListPlace): void {
  const focused = document.activeElement?.closest<HTMLElement>('[data-post]')?.dataset.post
  places.delete(name)
  places.set(name, { ...place, focused })
  const [oldest] = places.keys()
  if (places.size > 20 && oldest !== undefined) places.delete(oldest)
}
