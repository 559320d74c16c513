import type { FileId } from '@kith/protocol'
import { type Expression, sql } from 'kysely'
import { isListed, type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'
import { collectionKey, originalText, sortableText } from './sort-keys.ts'
import type { JsonObject, ReadDocument } from './values.ts'

interface DocumentTables {
  rtdb_documents: {
    tenant_id: TenantId
    file_id: FileId
    collection: string
    doc_id: string
    size: number
    collection_path: string | null
    data: string
  }
}

/** Where a collection is. */
export interface CollectionKey {
  readonly fileId: FileId
  /** The path of the collection. */
  readonly path: string
}

/** A document as it is kept: without its id. */
export interface StoredDocument {
  readonly id: string
  /** Of the JSON text, in UTF-8. */
  readonly size: number
  readonly text: string
}

type Of = { tenantId: TenantId; fileId: FileId; collection: string }

/** A document with its id, as it is read. */
export function readDocument({ id, text }: Pick<StoredDocument, 'id' | 'text'>): ReadDocument {
  return { id, ...(JSON.parse(text) as JsonObject) }
}

const selectOne = statement<DocumentTables, Of & { id: string }, { size: number; data: string }>(
  (tables, value) =>
    tables
      .selectFrom('rtdb_documents')
      .select(['size', 'data'])
      .where('tenant_id', '=', value('tenantId'))
      .where('file_id', '=', value('fileId'))
      .where('collection', '=', value('collection'))
      .where('doc_id', '=', value('id')),
)

export async function findDocument(
  reader: Reader,
  at: CollectionKey,
  id: string,
): Promise<StoredDocument | undefined> {
  const row = await reader.first(selectOne, { ...keyOf(reader, at), id: sortableText(id) })
  return row && { id, size: row.size, text: row.data }
}

const upsert = statement<
  DocumentTables,
  Of & { id: string; size: number; path: string | null; text: string },
  unknown
>((tables, value) =>
  tables
    .insertInto('rtdb_documents')
    .values({
      tenant_id: value('tenantId'),
      file_id: value('fileId'),
      collection: value('collection'),
      doc_id: value('id'),
      size: value('size'),
      collection_path: value('path'),
      data: value('text'),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'file_id', 'collection', 'doc_id'])
        .doUpdateSet((row) => ({ size: row.ref('excluded.size'), data: row.ref('excluded.data') })),
    ),
)

export async function putDocument(
  tx: Writer,
  at: CollectionKey,
  { id, size, text }: StoredDocument,
): Promise<void> {
  const key = keyOf(tx, at)
  const path = key.collection === at.path ? null : at.path
  await tx.change(upsert, { ...key, id: sortableText(id), size, path, text })
}

const remove = statement<DocumentTables, Of & { id: string }, unknown>((tables, value) =>
  tables
    .deleteFrom('rtdb_documents')
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .where('collection', '=', value('collection'))
    .where('doc_id', '=', value('id')),
)

export async function deleteDocument(tx: Writer, at: CollectionKey, id: string): Promise<void> {
  await tx.change(remove, { ...keyOf(tx, at), id: sortableText(id) })
}

/** The id of a document, as it is kept, and its size. */
export interface DocumentSize {
  readonly id: string
  readonly size: number
}

const selectSizes = statement<
  DocumentTables,
  Of & { after: string; limit: number },
  { doc_id: string; size: number }
>((tables, value) =>
  tables
    .selectFrom('rtdb_documents')
    .select(['doc_id', 'size'])
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .where('collection', '=', value('collection'))
    .where('doc_id', '>', value('after'))
    .orderBy('doc_id')
    .limit(value('limit')),
)

/** What comes next in a collection, without reading it. `after` is an id as it is kept. */
export async function listSizes(
  reader: Reader,
  at: CollectionKey,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<DocumentSize[]> {
  const rows = await reader.run(selectSizes, { ...keyOf(reader, at), after, limit })
  return rows.map(({ doc_id, size }) => ({ id: doc_id, size }))
}

const selectRange = statement<
  DocumentTables,
  Of & { after: string; upTo: string },
  { doc_id: string; size: number; data: string }
>((tables, value) =>
  tables
    .selectFrom('rtdb_documents')
    .select(['doc_id', 'size', 'data'])
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .where('collection', '=', value('collection'))
    .where('doc_id', '>', value('after'))
    .where('doc_id', '<=', value('upTo'))
    .orderBy('doc_id'),
)

/** Both bounds are ids as they are kept. */
export async function listRange(
  reader: Reader,
  at: CollectionKey,
  bounds: { readonly after: string; readonly upTo: string },
): Promise<StoredDocument[]> {
  const rows = await reader.run(selectRange, { ...keyOf(reader, at), ...bounds })
  return rows.map(storedDocument)
}

const selectSizesOf = statement<DocumentTables, Of & { ids: string }, { doc_id: string; size: number }>(
  (tables, value, dialect) =>
    tables
      .selectFrom('rtdb_documents')
      .select(['doc_id', 'size'])
      .where('tenant_id', '=', value('tenantId'))
      .where('file_id', '=', value('fileId'))
      .where('collection', '=', value('collection'))
      .where(isListed(dialect, 'doc_id', value('ids') as Expression<string>)),
)

/** `ids` as they are kept. */
export async function listSizesOf(
  reader: Reader,
  at: CollectionKey,
  ids: readonly string[],
): Promise<DocumentSize[]> {
  const rows = await reader.run(selectSizesOf, { ...keyOf(reader, at), ids: JSON.stringify(ids) })
  return rows.map(({ doc_id, size }) => ({ id: doc_id, size }))
}

const selectThese = statement<
  DocumentTables,
  Of & { ids: string },
  { doc_id: string; size: number; data: string }
>((tables, value, dialect) =>
  tables
    .selectFrom('rtdb_documents')
    .select(['doc_id', 'size', 'data'])
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .where('collection', '=', value('collection'))
    .where(isListed(dialect, 'doc_id', value('ids') as Expression<string>)),
)

/** In no order. `ids` as they are kept. */
export async function listDocuments(
  reader: Reader,
  at: CollectionKey,
  ids: readonly string[],
): Promise<StoredDocument[]> {
  const rows = await reader.run(selectThese, { ...keyOf(reader, at), ids: JSON.stringify(ids) })
  return rows.map(storedDocument)
}

const countAll = statement<DocumentTables, Of, { count: number }>((tables, value) =>
  tables
    .selectFrom('rtdb_documents')
    .select(sql<number>`count(*)`.as('count'))
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .where('collection', '=', value('collection')),
)

export async function countDocuments(reader: Reader, at: CollectionKey): Promise<number> {
  const row = await reader.first(countAll, keyOf(reader, at))
  return Number(row?.count ?? 0)
}

const selectLast = statement<DocumentTables, Of, { doc_id: string; size: number; data: string }>(
  (tables, value) =>
    tables
      .selectFrom('rtdb_documents')
      .select(['doc_id', 'size', 'data'])
      .where('tenant_id', '=', value('tenantId'))
      .where('file_id', '=', value('fileId'))
      .where('collection', '=', value('collection'))
      .orderBy('doc_id', 'desc')
      .limit(1),
)

export async function findLast(reader: Reader, at: CollectionKey): Promise<StoredDocument | undefined> {
  const row = await reader.first(selectLast, keyOf(reader, at))
  return row && storedDocument(row)
}

/** A place in a database, by the keys of its rows. */
export interface DocumentPlace {
  readonly collection: string
  readonly id: string
}

/** A document with the path of its collection. */
export interface PlacedDocument extends StoredDocument {
  readonly collectionPath: string
  readonly place: DocumentPlace
}

const selectPlaces = statement<
  DocumentTables,
  { tenantId: TenantId; fileId: FileId; collection: string; id: string; limit: number },
  { collection: string; doc_id: string; size: number }
>((tables, value) =>
  tables
    .selectFrom('rtdb_documents')
    .select(['collection', 'doc_id', 'size'])
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .where(sql<boolean>`(collection, doc_id) > (${value('collection')}, ${value('id')})`)
    .orderBy('collection')
    .orderBy('doc_id')
    .limit(value('limit')),
)

/** The documents of a whole database that come next, `limit` of them or fewer when they are large: about `maxBytes`. */
export async function listPlaced(
  reader: Reader,
  fileId: FileId,
  page: { readonly after: DocumentPlace; readonly limit: number; readonly maxBytes: number },
): Promise<PlacedDocument[]> {
  const { after, limit, maxBytes } = page
  const rows = await reader.run(selectPlaces, { tenantId: reader.tenantId, fileId, ...after, limit })
  const [first] = rows
  let last = first
  let bytes = 0
  for (const row of rows) {
    bytes += row.size
    if (bytes > maxBytes) break
    last = row
  }
  if (!last) return []
  const found = await reader
    .tables<DocumentTables>()
    .selectFrom('rtdb_documents')
    .select(['collection', 'doc_id', 'size', 'collection_path', 'data'])
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', '=', fileId)
    .where(sql<boolean>`(collection, doc_id) > (${after.collection}, ${after.id})`)
    .where(sql<boolean>`(collection, doc_id) <= (${last.collection}, ${last.doc_id})`)
    .orderBy('collection')
    .orderBy('doc_id')
    .execute()
  return found.map((row) => ({
    ...storedDocument(row),
    collectionPath: row.collection_path ?? row.collection,
    place: { collection: row.collection, id: row.doc_id },
  }))
}

function keyOf(reader: Reader, { fileId, path }: CollectionKey): Of {
  return { tenantId: reader.tenantId, fileId, collection: collectionKey(path) }
}

function storedDocument(row: { doc_id: string; size: number; data: string }): StoredDocument {
  return { id: originalText(row.doc_id), size: row.size, text: row.data }
}
