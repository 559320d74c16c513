import { sql } from 'kysely'
import { type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'

interface ReadTables {
  actions: { tenant_id: number; action_id: string; parent_id: string | null }
  action_reads: { tenant_id: number; action_id: string; reader_tag: string; comments: number }
  comment_reads: { tenant_id: number; comment_id: string; reader_tag: string; day: number }
}

/** The note that somebody has read a comment. */
interface CommentRead {
  readonly tenantId: TenantId
  readonly commentId: string
  readonly readerTag: string
  /** Undefined when the comment is gone. */
  readonly parentId: string | undefined
}

interface ReadRow {
  tenant_id: number
  comment_id: string
  reader_tag: string
  parent_id: string | null
}

const selectOldest = statement<ReadTables, { upToDay: number; limit: number }, ReadRow>((tables, value) =>
  tables
    .selectFrom('comment_reads as r')
    .select([
      'r.tenant_id',
      'r.comment_id',
      'r.reader_tag',
      sql<string | null>`(select a.parent_id from actions as a
        where a.tenant_id = r.tenant_id and a.action_id = r.comment_id)`.as('parent_id'),
    ])
    .where('r.day', '<=', value('upToDay'))
    .orderBy('r.day')
    .limit(value('limit')),
)

/** NOTE: over all tenants, the oldest first. */
export async function listOldReads(
  reader: Reader,
  query: { readonly upToDay: number; readonly limit: number },
): Promise<CommentRead[]> {
  const rows = await reader.run(selectOldest, query)
  return rows.map((row) => ({
    tenantId: row.tenant_id as TenantId,
    commentId: row.comment_id,
    readerTag: row.reader_tag,
    parentId: row.parent_id ?? undefined,
  }))
}

/** NOTE: over all tenants: the number of these notes, counted no further than `atMost`. */
export async function countReads(reader: Reader, atMost: number): Promise<number> {
  const row = await reader
    .tables<ReadTables>()
    .selectFrom((eb) => eb.selectFrom('comment_reads').select('day').orderBy('day').limit(atMost).as('some'))
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return Number(row.total)
}

type ReadKey = { tenantId: number; commentId: string; readerTag: string }
type CountKey = { tenantId: number; actionId: string; readerTag: string }

const deleteRead = statement<ReadTables, ReadKey, unknown>((tables, value) =>
  tables
    .deleteFrom('comment_reads')
    .where('tenant_id', '=', value('tenantId'))
    .where('comment_id', '=', value('commentId'))
    .where('reader_tag', '=', value('readerTag')),
)

const takeFromCount = statement<ReadTables, CountKey, unknown>((tables, value) =>
  tables
    .updateTable('action_reads')
    .set((row) => ({ comments: row('comments', '-', 1) }))
    .where('tenant_id', '=', value('tenantId'))
    .where('action_id', '=', value('actionId'))
    .where('reader_tag', '=', value('readerTag')),
)

const deleteEmptyCount = statement<ReadTables, CountKey, unknown>((tables, value) =>
  tables
    .deleteFrom('action_reads')
    .where('tenant_id', '=', value('tenantId'))
    .where('action_id', '=', value('actionId'))
    .where('reader_tag', '=', value('readerTag'))
    .where('comments', '<=', 0),
)

/** Forgets that somebody has read a comment. Shown again, it is counted again. */
export async function forgetRead(tx: Writer, read: CommentRead): Promise<void> {
  const { tenantId, commentId, readerTag, parentId } = read
  const isGone = (await tx.change(deleteRead, { tenantId, commentId, readerTag })) > 0
  if (!isGone || parentId === undefined) return
  await tx.change(takeFromCount, { tenantId, actionId: parentId, readerTag })
  await tx.change(deleteEmptyCount, { tenantId, actionId: parentId, readerTag })
}
