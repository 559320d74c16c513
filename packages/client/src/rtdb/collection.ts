import type {
  RtdbAggregate,
  RtdbFilter,
  RtdbGroup,
  RtdbOperation,
  RtdbOperator,
  RtdbSort,
} from '@kith/protocol'
import type { DocumentChange } from './live-set.ts'

/** A document with the id under which it is stored. */
export type Stored<Document> = Document & { readonly id: string }

/** What a collection needs of the connection. */
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
  /** `changes` is empty when all was read anew: at the start, and after the connection was interrupted. */
  readonly onChange: (documents: readonly never[], changes: readonly DocumentChange<never>[]) => void
  readonly onError?: ((error: Error) => void) | undefined
}

type Listener<Document> = (
  documents: readonly Stored<Document>[],
  changes: readonly DocumentChange<Stored<Document>>[],
) => void

/** The operand of an operator on a field of this type. */
type Operand<Value, Operator extends RtdbOperator> = Operator extends 'inArray' | 'notInArray'
  ? readonly Value[]
  : Operator extends 'arrayContains'
    ? Value extends readonly (infer Item)[]
      ? Item
      : never
    : Operator extends 'arrayContainsAny' | 'arrayContainsAll'
      ? Value extends readonly (infer Item)[]
        ? readonly Item[]
        : never
      : Value

/** Documents of a collection that pass a filter, in an order. Queries are immutable: each call makes a new one. */
export class Query<Document extends object> {
  protected readonly calls: DatabaseCalls
  readonly #request: QueryRequest

  constructor(calls: DatabaseCalls, request: QueryRequest) {
    this.calls = calls
    this.#request = request
  }

  /** Conditions on several fields, or with several operators, have all to hold; one on the same field and operator
   * replaces the former. */
  where<Field extends keyof Document & string, Operator extends RtdbOperator>(
    field: Field,
    operator: Operator,
    operand: Operand<NonNullable<Document[Field]>, Operator>,
  ): Query<Document> {
    const filter = this.#request.filter ?? {}
    const conditions = { ...filter[operator], [field]: operand }
    return this.#with({ filter: { ...filter, [operator]: conditions } })
  }

  /** Then by further fields; equal documents by id. */
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

  /** Only these fields, and the id. */
  select<Field extends keyof Document & string>(...fields: Field[]): Query<Pick<Document, Field>> {
    return new Query<Pick<Document, Field>>(this.calls, { ...this.#request, select: fields })
  }

  async get(): Promise<readonly Stored<Document>[]> {
    return (await this.calls.query(this.#request)) as readonly Stored<Document>[]
  }

  /** Tells the documents now and after each change, until the answered function is called. An `offset` is not kept up. */
  onChange(listener: Listener<Document>, onError?: (error: Error) => void): () => void {
    const { offset: _offset, aggregate: _aggregate, ...request } = this.#request
    return this.calls.watch(
      { ...request, scope: 'children' },
      { onChange: listener as Watcher['onChange'], onError },
    )
  }

  /** Rows by the values of a field. */
  async groups(aggregate: RtdbAggregate): Promise<readonly RtdbGroup[]> {
    return (await this.calls.query({ ...this.#request, aggregate })) as readonly RtdbGroup[]
  }

  /** The same, now and after each change. */
  onGroups(
    aggregate: RtdbAggregate,
    listener: (rows: readonly RtdbGroup[]) => void,
    onError?: (error: Error) => void,
  ): () => void {
    const { path, filter } = this.#request
    return this.calls.watchGroups({ path, aggregate, ...(filter ? { filter } : {}) }, listener, onError)
  }

  #with(more: Partial<QueryRequest>): Query<Document> {
    return new Query<Document>(this.calls, { ...this.#request, ...more })
  }
}

/** All documents of a collection. */
export class Collection<Document extends object> extends Query<Document> {
  readonly path: string

  constructor(calls: DatabaseCalls, path: string) {
    super(calls, { path })
    this.path = path
  }

  doc(id: string): DocumentHandle<Document> {
    return new DocumentHandle<Document>(this.calls, `${this.path}/${id}`)
  }

  /** Makes a document with an id of the server's; answers the id once it is durable. */
  async add(data: Document): Promise<string> {
    const [result] = await this.calls.transact([{ type: 'create', path: this.path, data: asJson(data) }])
    return result?.id ?? ''
  }
}

/** One document, whether or not it is there. Writes resolve when they are durable. */
export class DocumentHandle<Document extends object> {
  readonly path: string
  readonly #calls: DatabaseCalls

  constructor(calls: DatabaseCalls, path: string) {
    this.#calls = calls
    this.path = path
  }

  async get(): Promise<Stored<Document> | null> {
    return (await this.#calls.get(this.path)) as Stored<Document> | null
  }

  /** The whole document; one that is there is replaced. */
  async set(data: Document): Promise<void> {
    await this.#calls.transact([{ type: 'replace', path: this.path, data: asJson(data) }])
  }

  /** Some members; `null` removes one, and dotted names reach inside. */
  async update(
    data: Partial<Record<keyof Document, unknown>> | Readonly<Record<string, unknown>>,
  ): Promise<void> {
    await this.#calls.transact([{ type: 'update', path: this.path, data: asJson(data) }])
  }

  async delete(): Promise<void> {
    await this.#calls.transact([{ type: 'delete', path: this.path }])
  }

  /** Tells the document now and after each change; null when it is not there. */
  onChange(
    listener: (document: Stored<Document> | null) => void,
    onError?: (error: Error) => void,
  ): () => void {
    return this.#calls.watch(
      { path: this.path, scope: 'document' },
      { onChange: ([document]) => listener((document ?? null) as Stored<Document> | null), onError },
    )
  }

  /** A collection below this document. */
  collection<Below extends object>(name: string): Collection<Below> {
    return new Collection<Below>(this.#calls, `${this.path}/${name}`)
  }
}

function asJson(data: object): Record<string, unknown> {
  return data as Record<string, unknown>
}
