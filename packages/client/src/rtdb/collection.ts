import type { RtdbAggregate, RtdbFilter, RtdbGroup, RtdbOperation, RtdbSort } from '@kith/protocol'
import { type Condition, filterOf, type QueryOperator, withCondition } from './conditions.ts'
import type { DocumentChange } from './live-set.ts'
import type { Changes, Written } from './written.ts'

/** A document as it is read: with its `id`, the last segment of its path. */
export type Stored<Document> = Document & { readonly id: string }

/** The operations of the connection that queries and documents use. */
export interface DatabaseCalls {
  get(path: string): Promise<unknown>
  query(query: QueryRequest): Promise<readonly unknown[]>
  watch(query: WatchRequest, watcher: Watcher): () => void
  watchGroups(
    query: GroupRequest,
    listener: (rows: readonly RtdbGroup[]) => void,
    onError?: (error: Error) => void,
  ): () => void
  transact(
    operations: readonly RtdbOperation[],
  ): Promise<readonly { readonly ref: string | null; readonly id: string | null }[]>
}

export interface QueryRequest {
  readonly path: string
  readonly filter?: RtdbFilter
  readonly sort?: RtdbSort
  readonly limit?: number
  readonly offset?: number
  readonly select?: string[]
  readonly aggregate?: RtdbAggregate
}

export interface WatchRequest extends Omit<QueryRequest, 'offset' | 'aggregate'> {
  readonly scope: 'children' | 'document'
}

export interface GroupRequest {
  readonly path: string
  readonly filter?: RtdbFilter
  readonly aggregate: RtdbAggregate
}

export interface Watcher {
  /** Called with all documents of the query, and the one change since the last call. `changes` is empty on the first call,
   * and after each reconnection. */
  readonly onChange: (documents: readonly never[], changes: readonly DocumentChange<never>[]) => void
  /** The subscription has ended: the server refused it (`RtdbError`), or the connection ended (`ConnectionLost`). */
  readonly onError?: ((error: Error) => void) | undefined
}

type Listener<Document> = (
  documents: readonly Stored<Document>[],
  changes: readonly DocumentChange<Stored<Document>>[],
) => void

/** The type of the operand, for an operator and the type of a field. */
type Operand<Value, Operator extends QueryOperator> = Operator extends
  | 'inArray'
  | 'notInArray'
  | 'in'
  | 'not-in'
  ? readonly Value[]
  : Operator extends 'arrayContains' | 'array-contains'
    ? Value extends readonly (infer Item)[]
      ? Item
      : never
    : Operator extends 'arrayContainsAny' | 'arrayContainsAll' | 'array-contains-any'
      ? Value extends readonly (infer Item)[]
        ? readonly Item[]
        : never
      : Value

/** A query over the documents directly in a collection. Immutable: each method returns a new query. */
export class Query<Document extends object> {
  protected readonly calls: DatabaseCalls
  readonly #request: Omit<QueryRequest, 'filter'>
  readonly #conditions: readonly Condition[]

  constructor(
    calls: DatabaseCalls,
    request: Omit<QueryRequest, 'filter'>,
    conditions: readonly Condition[] = [],
  ) {
    this.calls = calls
    this.#request = request
    this.#conditions = conditions
  }

  /** Adds a condition; all conditions must hold. The operators of Firebase (`==`, `!=`, `<`, `in`, …) mean what they mean there. Throws
   * a `TypeError` for an unknown operator, an operand that it does not take, and a second condition of the same field and operator. */
  where<Field extends keyof Document & string, Operator extends QueryOperator>(
    field: Field,
    operator: Operator,
    operand: Operand<Exclude<Document[Field], undefined>, Operator>,
  ): Query<Document> {
    const conditions = withCondition(this.#conditions, field, operator, operand)
    return new Query<Document>(this.calls, this.#request, conditions)
  }

  /** Adds a field to sort by. Documents that are equal in all of them are sorted by id. */
  orderBy(field: keyof Document & string, direction: 'asc' | 'desc' = 'asc'): Query<Document> {
    const sort = [...(this.#request.sort ?? []), { field, ascending: direction === 'asc' }]
    return this.#with({ sort })
  }

  limit(limit: number): Query<Document> {
    return this.#with({ limit })
  }

  offset(offset: number): Query<Document> {
    return this.#with({ offset })
  }

  /** Reads only these fields, and `id`. */
  select<Field extends keyof Document & string>(...fields: Field[]): Query<Pick<Document, Field>> {
    return new Query<Pick<Document, Field>>(
      this.calls,
      { ...this.#request, select: fields },
      this.#conditions,
    )
  }

  async get(): Promise<readonly Stored<Document>[]> {
    return (await this.calls.query(this.#query())) as readonly Stored<Document>[]
  }

  /** Calls the listener with all documents of the query, now and after each change. Returns a function that ends the subscription.
   * `offset` is ignored. */
  onChange(listener: Listener<Document>, onError?: (error: Error) => void): () => void {
    const { offset: _offset, aggregate: _aggregate, ...request } = this.#query()
    return this.calls.watch(
      { ...request, scope: 'children' },
      { onChange: listener as Watcher['onChange'], onError },
    )
  }

  /** Groups the documents by a field: their count in each group, and sums, averages, minima and maxima. */
  async groups(aggregate: RtdbAggregate): Promise<readonly RtdbGroup[]> {
    return (await this.calls.query({ ...this.#query(), aggregate })) as readonly RtdbGroup[]
  }

  /** Calls the listener with the groups, now and after each change. Returns a function that ends the subscription. */
  onGroups(
    aggregate: RtdbAggregate,
    listener: (rows: readonly RtdbGroup[]) => void,
    onError?: (error: Error) => void,
  ): () => void {
    const { path, filter } = this.#query()
    return this.calls.watchGroups({ path, aggregate, ...(filter ? { filter } : {}) }, listener, onError)
  }

  #with(more: Partial<QueryRequest>): Query<Document> {
    return new Query<Document>(this.calls, { ...this.#request, ...more }, this.#conditions)
  }

  #query(): QueryRequest {
    const filter = filterOf(this.#conditions)
    return Object.keys(filter).length === 0 ? this.#request : { ...this.#request, filter }
  }
}

/** A collection: a query for all of its documents, which also adds and addresses them. */
export class Collection<Document extends object> extends Query<Document> {
  readonly path: string

  constructor(calls: DatabaseCalls, path: string) {
    const bare = pathOf(path, 'collection')
    super(calls, { path: bare })
    this.path = bare
  }

  /** Throws a `TypeError` unless the path of the document has an even number of segments. */
  doc(id: string): DocumentHandle<Document> {
    return new DocumentHandle<Document>(this.calls, `${this.path}/${id}`)
  }

  /** Creates a document. Resolves with the id that the server gave it, once it is stored. */
  async add(data: Written<Document>): Promise<string> {
    const [result] = await this.calls.transact([{ type: 'create', path: this.path, data: asJson(data) }])
    return result?.id ?? ''
  }
}

/** A reference to one document, which need not exist. Writes resolve once the server has stored them, and reject with
 * `RtdbError` when it refuses them. */
export class DocumentHandle<Document extends object> {
  readonly path: string
  readonly #calls: DatabaseCalls

  constructor(calls: DatabaseCalls, path: string) {
    this.#calls = calls
    this.path = pathOf(path, 'document')
  }

  /** The document; null when it does not exist. */
  async get(): Promise<Stored<Document> | null> {
    return (await this.#calls.get(this.path)) as Stored<Document> | null
  }

  /** Creates or replaces the document. */
  async set(data: Written<Document>): Promise<void> {
    await this.#calls.transact([{ type: 'replace', path: this.path, data: asJson(data) }])
  }

  /** Changes some fields. Creates the document of these fields when it does not exist. */
  async update(data: Changes<Document>): Promise<void> {
    await this.#calls.transact([{ type: 'update', path: this.path, data: asJson(data) }])
  }

  /** Deletes the document, if it exists. Documents below it stay. */
  async delete(): Promise<void> {
    await this.#calls.transact([{ type: 'delete', path: this.path }])
  }

  /** Calls the listener with the document, or null when it does not exist, now and after each change. Returns a function that ends
   * the subscription. */
  onChange(
    listener: (document: Stored<Document> | null) => void,
    onError?: (error: Error) => void,
  ): () => void {
    return this.#calls.watch(
      { path: this.path, scope: 'document' },
      { onChange: ([document]) => listener((document ?? null) as Stored<Document> | null), onError },
    )
  }

  /** A collection nested under this document. Throws a `TypeError` unless its path has an odd number of segments. */
  collection<Below extends object = Record<string, unknown>>(name: string): Collection<Below> {
    return new Collection<Below>(this.#calls, `${this.path}/${name}`)
  }
}

/** The path without a slash at its ends. */
function pathOf(path: string, kind: 'collection' | 'document'): string {
  const bare = String(path).replace(/^\/|\/$/g, '')
  const segments = bare.split('/')
  const isOfKind = (segments.length % 2 === 1) === (kind === 'collection')
  if (isOfKind && segments.every((segment) => segment !== '')) return bare
  const form =
    kind === 'collection'
      ? 'an odd number of segments, as "lists" or "lists/home/tasks"'
      : 'an even number, as "lists/home"'
  throw new TypeError(`"${path}" is not the path of a ${kind}, which has ${form}, none of them empty`)
}

function asJson(data: object): Record<string, unknown> {
  return data as Record<string, unknown>
}
