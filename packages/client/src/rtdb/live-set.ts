import { compareValues, type RtdbChange, type RtdbDocument, type RtdbSort } from '@kith/protocol'

/** A change of one document in the result of a query. */
export interface DocumentChange<Document> {
  readonly action: 'create' | 'update' | 'delete'
  readonly path: string
  /** Absent for `delete`. */
  readonly document?: Document
}

interface Shape {
  readonly sort: RtdbSort
  readonly limit: number | undefined
}

/** The current result of a subscribed query, kept up to date by its events. */
export class LiveSet<Document extends RtdbDocument> {
  readonly #shape: Shape
  readonly #byPath = new Map<string, Document>()

  constructor(shape: Shape) {
    this.#shape = shape
  }

  /** Applies an event. Returns the change; `ready` when the initial documents are complete; undefined when nothing changed. */
  take(event: RtdbChange): DocumentChange<Document> | 'ready' | undefined {
    const { action, path } = event
    switch (action) {
      case 'ready':
        // A document exactly at the path is not in this list: it came before, as a `create`.
        for (const document of event.data as readonly Document[])
          this.#byPath.set(`${path}/${document.id}`, document)
        return 'ready'
      case 'create':
      case 'update': {
        const document = event.data as Document
        this.#byPath.set(path, document)
        return { action, path, document }
      }
      case 'delete':
        return this.#byPath.delete(path) ? { action, path } : undefined
      default:
        return undefined
    }
  }

  /** The documents in the order of the query, up to its limit. */
  list(): readonly Document[] {
    const { sort, limit } = this.#shape
    const sorted = [...this.#byPath.values()].sort((one, other) => compareBy(sort, one, other))
    return limit === undefined ? sorted : sorted.slice(0, limit)
  }
}

function compareBy(sort: RtdbSort, one: RtdbDocument, other: RtdbDocument): number {
  for (const { field, ascending } of sort) {
    const order = compareValues(one[field], other[field])
    if (order !== 0) return ascending ? order : -order
  }
  return compareValues(one.id, other.id)
}
