import type { ActionId, IdTag } from '@kith/protocol'
import { type Reader, statement, type Writer } from '#infra/db/index.ts'

interface ReaderTables {
  actions: { tenant_id: number; action_id: string; comments: number; views: number }
  action_views: { tenant_id: number; action_id: string; reader: string; day: number }
  action_reads: { tenant_id: number; action_id: string; reader_tag: string; comments: number }
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

/** Counts a reader of the day; false when it is counted already. */
export async function countView(
  tx: Writer,
  view: { readonly actionId: ActionId; readonly reader: string; readonly day: number },
): Promise<boolean> {
  const isNew = (await tx.change(putView, { ...view, tenantId: tx.tenantId })) > 0
  if (isNew) await tx.change(addView, { tenantId: tx.tenantId, actionId: view.actionId })
  return isNew
}

/** Forgets who read what before a day. */
export async function sweepViews(tx: Writer, beforeDay: number): Promise<void> {
  await tx.tables<ReaderTables>().deleteFrom('action_views').where('day', '<', beforeDay).execute()
}

const selectUnread = statement<
  ReaderTables,
  { tenantId: number; actionId: string; readerTag: string },
  { comments: number; seen: number | null }
>((tables, value) =>
  tables
    .selectFrom('actions as a')
    .leftJoin('action_reads as r', (join) =>
      join
        .onRef('r.tenant_id', '=', 'a.tenant_id')
        .onRef('r.action_id', '=', 'a.action_id')
        .on('r.reader_tag', '=', value('readerTag')),
    )
    .select(['a.comments', 'r.comments as seen'])
    .where('a.tenant_id', '=', value('tenantId'))
    .where('a.action_id', '=', value('actionId')),
)

/** How many comments there are that the reader has not seen; undefined where all are known as read. */
export async function findUnread(
  reader: Reader,
  { actionId, readerTag }: { readonly actionId: string; readonly readerTag: IdTag },
): Promise<number | undefined> {
  const row = await reader.first(selectUnread, { tenantId: reader.tenantId, actionId, readerTag })
  return row && row.comments !== row.seen ? row.comments : undefined
}

/** Notes how many comments on an action the reader has seen. */
export async function putRead(
  tx: Writer,
  read: { readonly actionId: string; readonly readerTag: IdTag; readonly comments: number },
): Promise<void> {
  const { comments } = read
  await tx
    .tables<ReaderTables>()
    .insertInto('action_reads')
    .values({ tenant_id: tx.tenantId, action_id: read.actionId, reader_tag: read.readerTag, comments })
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'action_id', 'reader_tag']).doUpdateSet({ comments }),
    )
    .execute()
}
