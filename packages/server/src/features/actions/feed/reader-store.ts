import type { ActionId, IdTag } from '@kith/protocol'
import { deletionOf, type Reader, statement, type Writer } from '#infra/db/index.ts'

interface ReaderTables {
  actions: { tenant_id: number; action_id: string; comments: number; views: number }
  action_views: { tenant_id: number; action_id: string; reader: string; day: number }
  action_reads: { tenant_id: number; action_id: string; reader_tag: string; comments: number }
  comment_reads: { tenant_id: number; comment_id: string; reader_tag: string; day: number }
}

interface ViewValues {
  readonly tenantId: number
  readonly actionId: string
  readonly reader: string
  readonly day: number
}

const putView = statement<ReaderTables, ViewValues, unknown>((tables, value) =>
  tables
    .insertInto('action_views')
    .values({
      tenant_id: value('tenantId'),
      action_id: value('actionId'),
      reader: value('reader'),
      day: value('day'),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'action_id', 'reader'])
        .doUpdateSet((row) => ({ day: row.ref('excluded.day') }))
        .where('action_views.day', '<', value('day')),
    ),
)

const addView = statement<ReaderTables, { tenantId: number; actionId: string }, unknown>((tables, value) =>
  tables
    .updateTable('actions')
    .set((row) => ({ views: row('views', '+', 1) }))
    .where('tenant_id', '=', value('tenantId'))
    .where('action_id', '=', value('actionId')),
)

/** Counts a reader of the day; false when the reader was counted already. */
export async function countView(
  tx: Writer,
  view: { readonly actionId: ActionId; readonly reader: string; readonly day: number },
): Promise<boolean> {
  const isNew = (await tx.change(putView, { ...view, tenantId: tx.tenantId })) > 0
  if (isNew) await tx.change(addView, { tenantId: tx.tenantId, actionId: view.actionId })
  return isNew
}

/** NOTE: over all tenants: deletes the views of a day and of earlier days. */
export const deleteViews = deletionOf({
  table: 'action_views',
  key: ['tenant_id', 'action_id', 'reader'],
  time: 'day',
})

/** A comment that was shown, and the action it is on. */
interface ShownComment {
  readonly commentId: string
  readonly parentId: string
}

/** Those of these comments that the reader has not been shown before. */
export async function listUnread(
  reader: Reader,
  readerTag: IdTag,
  comments: readonly ShownComment[],
): Promise<ShownComment[]> {
  if (comments.length === 0) return []
  const rows = await reader
    .tables<ReaderTables>()
    .selectFrom('comment_reads')
    .select('comment_id')
    .where('tenant_id', '=', reader.tenantId)
    .where('reader_tag', '=', readerTag)
    .where(
      'comment_id',
      'in',
      comments.map(({ commentId }) => commentId),
    )
    .execute()
  const known = new Set(rows.map((row) => row.comment_id))
  return comments.filter(({ commentId }) => !known.has(commentId))
}

const insertRead = statement<
  ReaderTables,
  { tenantId: number; commentId: string; readerTag: string; day: number },
  unknown
>((tables, value) =>
  tables
    .insertInto('comment_reads')
    .values({
      tenant_id: value('tenantId'),
      comment_id: value('commentId'),
      reader_tag: value('readerTag'),
      day: value('day'),
    })
    .onConflict((conflict) => conflict.doNothing()),
)

const addRead = statement<ReaderTables, { tenantId: number; actionId: string; readerTag: string }, unknown>(
  (tables, value) =>
    tables
      .insertInto('action_reads')
      .values({
        tenant_id: value('tenantId'),
        action_id: value('actionId'),
        reader_tag: value('readerTag'),
        comments: 1,
      })
      .onConflict((conflict) =>
        conflict
          .columns(['tenant_id', 'action_id', 'reader_tag'])
          .doUpdateSet((row) => ({ comments: row('action_reads.comments', '+', 1) })),
      ),
)

/** Notes that the reader has read these comments, each once. `day`: days since 1970. */
export async function putReads(
  tx: Writer,
  { readerTag, day }: { readonly readerTag: IdTag; readonly day: number },
  comments: readonly ShownComment[],
): Promise<void> {
  const { tenantId } = tx
  for (const { commentId, parentId } of comments) {
    const isNew = (await tx.change(insertRead, { tenantId, commentId, readerTag, day })) > 0
    if (isNew) await tx.change(addRead, { tenantId, actionId: parentId, readerTag })
  }
}

/** Forgets who has read a comment when that is deleted. */
export async function deleteReads(tx: Writer, { commentId, parentId }: ShownComment): Promise<void> {
  const tables = tx.tables<ReaderTables>()
  const { numUpdatedRows } = await tables
    .updateTable('action_reads')
    .set((row) => ({ comments: row('comments', '-', 1) }))
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', parentId)
    .where('reader_tag', 'in', (query) =>
      query
        .selectFrom('comment_reads')
        .select('reader_tag')
        .where('tenant_id', '=', tx.tenantId)
        .where('comment_id', '=', commentId),
    )
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return
  await tables
    .deleteFrom('comment_reads')
    .where('tenant_id', '=', tx.tenantId)
    .where('comment_id', '=', commentId)
    .execute()
  await tables
    .deleteFrom('action_reads')
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', parentId)
    .where('comments', '<=', 0)
    .execute()
}
