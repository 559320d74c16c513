import { type Expression, sql } from 'kysely'
import { isListed, type Reader, statement } from '#infra/db/index.ts'
import {
  type CollectionKey,
  type DocumentTables,
  keyOf,
  type OfCollection,
  ofCollection,
  type StoredDocument,
  storedDocument,
} from './documents-predicate.ts'

// Documents of one collection.

/** The id of a document, as it is kept, and its size. */
export interface DocumentSize {
  readonly id: string
  readonly size: number
}

const selectSizes = statement<
  DocumentTables,
  OfCollection & { after: string; limit: number },
  { doc_id: string; size: number }
>((tables, value) =>
  ofCollection(tables, value)
    .select(['doc_id', 'size'])
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
  OfCollection & { after: string; upTo: string },
  { doc_id: string; size: number; data: string }
>((tables, value) =>
  ofCollection(tables, value)
    .select(['doc_id', 'size', 'data'])
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

const selectSizesOf = statement<
  DocumentTables,
  OfCollection & { ids: string },
  { doc_id: string; size: number }
>((tables, value, dialect) =>
  ofCollection(tables, value)
    .select(['doc_id', 'size'])
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
  OfCollection & { ids: string },
  { doc_id: string; size: number; data: string }
>((tables, value, dialect) =>
  ofCollection(tables, value)
    .select(['doc_id', 'size', 'data'])
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

const countNext = statement<
  DocumentTables,
  OfCollection & { after: string; limit: number },
  { count: number; last: string | null }
>((tables, value) =>
  tables
    .selectFrom(
      ofCollection(tables, value)
        .select('doc_id')
        .where('doc_id', '>', value('after'))
        .orderBy('doc_id')
        .limit(value('limit'))
        .as('next'),
    )
    .select([sql<number>`count(*)`.as('count'), sql<string | null>`max(doc_id)`.as('last')]),
)

/** How many documents come next, `limit` at most, and the id of the last of them, as it is kept. */
export async function countDocuments(
  reader: Reader,
  at: CollectionKey,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ readonly count: number; readonly last: string }> {
  const row = await reader.first(countNext, { ...keyOf(reader, at), after, limit })
  return { count: Number(row?.count ?? 0), last: row?.last ?? after }
}
