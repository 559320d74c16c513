import type { FileId } from '@kith/protocol'
import { sql } from 'kysely'
import { type Reader, statement, type TenantId } from '#infra/db/index.ts'
import { type DocumentTables, type StoredDocument, storedDocument } from './documents-predicate.ts'

// Documents of all collections of a database.

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
