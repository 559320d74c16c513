import type { Action } from '@kith/protocol'
import { useInfiniteQuery } from '@tanstack/preact-query'
import { useMemo } from 'preact/hooks'
import { Button } from '#ui/button.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { Comment } from './comment.tsx'
import { threadQuery } from './feed-query.ts'
import { rowOf, rowsOf } from './feed-rows.ts'
import styles from './thread.module.css'
import { threadOrder } from './thread-order.ts'
import { threadTexts } from './thread-texts.ts'
import { WaitingComment } from './waiting-comment.tsx'
import { useWaitingComments } from './waiting-comments.ts'

interface ThreadProps {
  readonly root: Pick<Action, 'actionId' | 'issuerTag'>
  /** The comment that the address names. */
  readonly target?: Action | undefined
}

/** The comments of a post: the newest page, older ones on demand, new ones as they come. */
export function Thread({ root, target }: ThreadProps) {
  const t = useTexts(threadTexts)
  const thread = useInfiniteQuery(threadQuery(root.actionId))
  const rows = useMemo(() => {
    const loaded = rowsOf(thread.data)
    const isThere = !target || loaded.some(({ actionId }) => actionId === target.actionId)
    return isThere ? loaded : [...loaded, rowOf(target)]
  }, [thread.data, target])
  const ordered = useMemo(() => threadOrder(rows, root.actionId), [rows, root.actionId])
  const waiting = useWaitingComments(root.actionId, rows)
  return (
    <section class={styles.thread} aria-labelledby="comments">
      <h2 id="comments">{t.comments}</h2>
      <QueryState query={thread} heights={[72, 72]} what={t.failed} />
      {thread.hasNextPage && (
        <Button isBusy={thread.isFetchingNextPage} onClick={() => void thread.fetchNextPage()}>
          {t.older}
        </Button>
      )}
      {thread.data && ordered.length + waiting.length === 0 && <p class="soft">{t.none}</p>}
      {ordered.map(({ row, depth, answers }) => (
        <Comment
          key={row.actionId}
          actionId={row.actionId}
          root={root}
          depth={depth}
          answers={answers}
          isTarget={row.actionId === target?.actionId}
        />
      ))}
      {waiting.map((one) => (
        <WaitingComment key={one.key} waiting={one} />
      ))}
    </section>
  )
}
