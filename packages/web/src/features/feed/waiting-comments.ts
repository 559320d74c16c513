import type { Action } from '@kith/protocol'
import { stillWaiting } from '#lib/still-waiting.ts'
import { arrived, outbox, type Waiting } from '#platform/outbox.ts'
import { queries } from '#platform/query.ts'
import { useStore } from '#ui/use-store.ts'
import { ownIdTag, postKey, threadQuery } from './feed-query.ts'
import { type FeedRow, rowsOf } from './feed-rows.ts'

export interface NewComment {
  readonly rootId: string
  readonly parentId: string
  readonly text: string
  /** One's own comments that said the same there before. */
  readonly known?: readonly string[]
}

/** A comment as it is sent. */
export function newComment(rootId: string, parentId: string, text: string): NewComment {
  const rows = rowsOf(queries.getQueryData(threadQuery(rootId).queryKey))
  const same = rows.filter((row) => row.parentId === parentId && isOwn(row) && textOf(row) === text)
  return { rootId, parentId, text, known: same.map(({ actionId }) => actionId) }
}

/** Of what waits, the comments on a post that do not stand in its thread yet. */
export function useWaitingComments(rootId: string, rows: readonly FeedRow[]): readonly Waiting<NewComment>[] {
  const waiting = useStore(outbox).filter(
    (one): one is Waiting<NewComment> =>
      one.kind === 'comment' && (one.payload as NewComment).rootId === rootId,
  )
  return stillWaiting(waiting, rows, { ids: useStore(arrived), isSame })
}

function isSame({ payload: { parentId, text, known } }: Waiting<NewComment>, row: FeedRow): boolean {
  return row.parentId === parentId && isOwn(row) && textOf(row) === text && !known?.includes(row.actionId)
}

function isOwn({ issuerTag }: FeedRow): boolean {
  return issuerTag === ownIdTag()
}

function textOf({ actionId }: FeedRow): unknown {
  return queries.getQueryData<Action>(postKey(actionId))?.content?.text
}
