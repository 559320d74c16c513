import { type Reader, statement, type Writer } from '#infra/db/index.ts'
import {
  type CollectionKey,
  type DocumentTables,
  keyOf,
  type OfCollection,
  ofCollection,
  type StoredDocument,
  storedDocument,
} from './documents-predicate.ts'
import { sortableText } from './sort-keys.ts'
import type { ReadDocument } from './values.ts'

// One document.

/** A document with its id, as it is read. */
export function readDocument({ id, text }: Pick<StoredDocument, 'id' | 'text'>): ReadDocument {
  const rest = text === '{}' ? '}' : `,${text.slice(1)}`
  return JSON.parse(`{"id":${JSON.stringify(id)}${rest}`) as ReadDocument
}

const selectOne = statement<DocumentTables, OfCollection & { id: string }, { size: number; data: string }>(
  (tables, value) => ofCollection(tables, value).select(['size', 'data']).where('doc_id', '=', value('id')),
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
  OfCollection & { id: string; size: number; path: string | null; text: string },
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

const remove = statement<DocumentTables, OfCollection & { id: string }, unknown>((tables, value) =>
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

const selectLast = statement<DocumentTables, OfCollection, { doc_id: string; size: number; data: string }>(
  (tables, value) =>
    ofCollection(tables, value).select(['doc_id', 'size', 'data']).orderBy('doc_id', 'desc').limit(1),
)

export async function findLast(reader: Reader, at: CollectionKey): Promise<StoredDocument | undefined> {
  const row = await reader.first(selectLast, keyOf(reader, at))
  return row && storedDocument(row)
}
