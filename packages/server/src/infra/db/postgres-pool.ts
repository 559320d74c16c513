/** A query in the words of PostgreSQL; one with a name is prepared once per connection. */
export interface PostgresQuery {
  readonly name?: string
  readonly text: string
  readonly values?: unknown[]
}

export interface PostgresResult {
  readonly rowCount: number | null
  readonly rows: unknown[]
}

/** One connection, for one transaction. */
export interface PostgresClient {
  query(query: PostgresQuery): Promise<PostgresResult>
  /** Gives the connection back; a broken one is closed. */
  release(isBroken: boolean): void
}

/** Connections to one database. */
export interface PostgresPool {
  query(query: PostgresQuery): Promise<PostgresResult>
  connect(): Promise<PostgresClient>
  end(): Promise<void>
}

/** Readers have connections of their own, which cannot write, and never wait for those of writers. */
export interface PostgresPools {
  readonly readers: PostgresPool
  readonly writers: PostgresPool
}
