import { compareTexts, compareValues, type RtdbSort } from '@kith/protocol'
import { RtdbFailure } from './rtdb-failure.ts'
import { isJsonObject, memberOf, plainObject, type ReadDocument } from './values.ts'

export type DocumentOrder = (a: ReadDocument, b: ReadDocument) => number

/** By the fields of `sort`, one after the other; those that are equal then, by id. */
export function documentOrder(sort: RtdbSort | undefined): DocumentOrder {
  const fields = checkSort(sort)
  return (a, b) => {
    for (const { field, ascending } of fields) {
      const difference = compareValues(memberOf(a, field), memberOf(b, field))
      if (difference !== 0) return ascending ? difference : -difference
    }
    return compareTexts(a.id, b.id)
  }
}

export function sortDocuments(
  sort: RtdbSort | undefined,
  documents: readonly ReadDocument[],
): ReadDocument[] {
  return documents.toSorted(documentOrder(sort))
}

function checkSort(sort: RtdbSort | undefined): RtdbSort {
  if (sort === undefined) return []
  const isSort =
    Array.isArray(sort) &&
    sort.every((it) => isJsonObject(it) && typeof it.field === 'string' && typeof it.ascending === 'boolean')
  if (!isSort) throw new RtdbFailure(400, 'sort is an array of {field, ascending}')
  return sort
}

/** The fields of `select` that the document has, and its `id`. */
export function project(select: readonly string[] | undefined, document: ReadDocument): ReadDocument {
  if (select === undefined) return document
  const { id } = document
  const projected = plainObject({ id })
  for (const field of select) if (Object.hasOwn(document, field)) projected[field] = document[field]
  return projected as ReadDocument
}
