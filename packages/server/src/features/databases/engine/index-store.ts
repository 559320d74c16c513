import type { FileId } from '@kith/protocol'
import { type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'
import { sortableText } from './sort-keys.ts'

interface IndexTables {
  rtdb_indexes: {
    tenant_id: TenantId
    file_id: FileId
    index_no: number
    collection: string
    field: string
    built_to: string | null
  }
  rtdb_index_entries: {
    tenant_id: TenantId
    file_id: FileId
    index_no: number
    key: string
    doc_id: string
  }
}

/** An index of a field of the documents of one collection. */
export interface FieldIndex {
  readonly indexNo: number
  /** The key of the collection (`collectionKey`). */
  readonly collection: string
  readonly field: string
  /** Documents up to this id, as it is kept, have entries; null: all have. */
  readonly builtTo: string | null
}

const selectIndexes = statement<
  IndexTables,
  { tenantId: TenantId; fileId: FileId },
  Pick<IndexTables['rtdb_indexes'], 'index_no' | 'collection' | 'field' | 'built_to'>
>((tables, value) =>
  tables
    .selectFrom('rtdb_indexes')
    .select(['index_no', 'collection', 'field', 'built_to'])
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .orderBy('index_no'),
)

/** All of a database, which has few. */
export async function listIndexes(reader: Reader, fileId: FileId): Promise<FieldIndex[]> {
  const rows = await reader.run(selectIndexes, { tenantId: reader.tenantId, fileId })
  return rows.map((row) => ({
    indexNo: row.index_no,
    collection: row.collection,
    field: row.field,
    builtTo: row.built_to,
  }))
}

export async function insertIndex(tx: Writer, fileId: FileId, index: FieldIndex): Promise<void> {
  await tx
    .tables<IndexTables>()
    .insertInto('rtdb_indexes')
    .values({
      tenant_id: tx.tenantId,
      file_id: fileId,
      index_no: index.indexNo,
      collection: index.collection,
      field: index.field,
      built_to: index.builtTo,
    })
    .execute()
}

export async function setBuiltTo(
  tx: Writer,
  fileId: FileId,
  { indexNo, builtTo }: Pick<FieldIndex, 'indexNo' | 'builtTo'>,
): Promise<void> {
  await tx
    .tables<IndexTables>()
    .updateTable('rtdb_indexes')
    .set({ built_to: builtTo })
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', fileId)
    .where('index_no', '=', indexNo)
    .execute()
}

type EntryKey = { tenantId: TenantId; fileId: FileId; indexNo: number; key: string; id: string }

const insertEntry = statement<IndexTables, EntryKey, unknown>((tables, value) =>
  tables
    .insertInto('rtdb_index_entries')
    .values({
      tenant_id: value('tenantId'),
      file_id: value('fileId'),
      index_no: value('indexNo'),
      key: value('key'),
      doc_id: value('id'),
    })
    .onConflict((conflict) => conflict.doNothing()),
)

const removeEntry = statement<IndexTables, EntryKey, unknown>((tables, value) =>
  tables
    .deleteFrom('rtdb_index_entries')
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .where('index_no', '=', value('indexNo'))
    .where('key', '=', value('key'))
    .where('doc_id', '=', value('id')),
)

/** The entries of one document in one index. */
export interface EntryChange {
  readonly fileId: FileId
  readonly indexNo: number
  readonly id: string
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

export async function changeEntries(tx: Writer, change: EntryChange): Promise<void> {
  const { fileId, indexNo } = change
  const of = { tenantId: tx.tenantId, fileId, indexNo, id: sortableText(change.id) }
  for (const key of change.removed) await tx.change(removeEntry, { ...of, key })
  for (const key of change.added) await tx.change(insertEntry, { ...of, key })
}

/** Entries behind a place, up to a key that is included. */
export interface EntryRange {
  readonly fileId: FileId
  readonly indexNo: number
  readonly to: string
  readonly after: { readonly key: string; readonly id: string }
  readonly limit: number
}

/** An entry of an index; its id is as it is kept. */
export interface IndexEntry {
  readonly key: string
  readonly id: string
}

type RangeValues = Omit<EntryRange, 'after'> & { tenantId: TenantId; afterKey: string; afterId: string }

// Two statements: in one, a comparison of pairs would be the only bound that PostgreSQL takes into its index.
const selectSameKey = statement<IndexTables, RangeValues, { key: string; doc_id: string }>((tables, value) =>
  tables
    .selectFrom('rtdb_index_entries')
    .select(['key', 'doc_id'])
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .where('index_no', '=', value('indexNo'))
    .where('key', '=', value('afterKey'))
    .where('doc_id', '>', value('afterId'))
    .orderBy('doc_id')
    .limit(value('limit')),
)

const selectLaterKeys = statement<IndexTables, RangeValues, { key: string; doc_id: string }>(
  (tables, value) =>
    tables
      .selectFrom('rtdb_index_entries')
      .select(['key', 'doc_id'])
      .where('tenant_id', '=', value('tenantId'))
      .where('file_id', '=', value('fileId'))
      .where('index_no', '=', value('indexNo'))
      .where('key', '>', value('afterKey'))
      .where('key', '<=', value('to'))
      .orderBy('key')
      .orderBy('doc_id')
      .limit(value('limit')),
)

/** By key, then by document. */
export async function listEntries(reader: Reader, range: EntryRange): Promise<IndexEntry[]> {
  const { after, ...rest } = range
  const values = { ...rest, tenantId: reader.tenantId, afterKey: after.key, afterId: after.id }
  const same = await reader.run(selectSameKey, values)
  const left = range.limit - same.length
  const later = left > 0 ? await reader.run(selectLaterKeys, { ...values, limit: left }) : []
  return [...same, ...later].map(({ key, doc_id }) => ({ key, id: doc_id }))
}

const selectKeyBefore = statement<
  IndexTables,
  { tenantId: TenantId; fileId: FileId; indexNo: number; before: string },
  { key: string }
>((tables, value) =>
  tables
    .selectFrom('rtdb_index_entries')
    .select('key')
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .where('index_no', '=', value('indexNo'))
    .where('key', '<', value('before'))
    .orderBy('key', 'desc')
    .limit(1),
)

/** The greatest key below `before`. */
export async function findKeyBefore(
  reader: Reader,
  of: { readonly fileId: FileId; readonly indexNo: number; readonly before: string },
): Promise<string | undefined> {
  const row = await reader.first(selectKeyBefore, { tenantId: reader.tenantId, ...of })
  return row?.key
}

/** How many entries the indexes of a database have. */
export async function countEntries(reader: Reader, fileId: FileId): Promise<number> {
  const row = await reader
    .tables<IndexTables>()
    .selectFrom('rtdb_index_entries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', '=', fileId)
    .executeTakeFirst()
  return Number(row?.count ?? 0)
}
