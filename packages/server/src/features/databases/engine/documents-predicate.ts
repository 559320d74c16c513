import type { FileId } from '@kith/protocol'
import type { Placeholder, Reader, TenantId, WriteTables } from '#infra/db/index.ts'
import { collectionKey, originalText } from './sort-keys.ts'

export interface DocumentTables {
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

/** The key of a collection, as statements take it. */
export type OfCollection = { tenantId: TenantId; fileId: FileId; collection: string }

/** The rows of the documents of one collection. */
export function ofCollection(
  tables: Pick<WriteTables<DocumentTables>, 'selectFrom'>,
  value: Placeholder<OfCollection>,
) {
  return tables
    .selectFrom('rtdb_documents')
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .where('collection', '=', value('collection'))
}

export function keyOf(reader: Reader, { fileId, path }: CollectionKey): OfCollection {
  return { tenantId: reader.tenantId, fileId, collection: collectionKey(path) }
}

export function storedDocument(row: {
  readonly doc_id: string
  readonly size: number
  readonly data: string
}): StoredDocument {
  return { id: originalText(row.doc_id), size: row.size, text: row.data }
}
