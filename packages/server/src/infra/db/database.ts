import type { Compilable, Expression, Kysely } from 'kysely'

declare const tenantBrand: unique symbol
/** The number of a tenant in this database; only the tenants feature makes one from a host or a name. */
export type TenantId = number & { readonly [tenantBrand]: true }

/** Owns the rows that belong to the server as a whole (jobs, keys of the server, caches of remote identities). */
export const serverTenant = 0 as TenantId

export type Dialect = 'sqlite' | 'postgres'

/** The query builder over the tables a store declares, without the statements that write. */
export type ReadTables<Tables> = Pick<
  Kysely<Tables>,
  'selectFrom' | 'with' | 'withRecursive' | 'fn' | 'dynamic'
>
/** The query builder of a transaction. */
export type WriteTables<Tables> = ReadTables<Tables> &
  Pick<Kysely<Tables>, 'insertInto' | 'updateTable' | 'deleteFrom' | 'replaceInto' | 'mergeInto'>

/** The right to read the rows of one tenant. Every query filters on `tenantId`. */
export interface Reader {
  readonly tenantId: TenantId
  readonly dialect: Dialect
  /** Builds and runs one-off queries; a query that changes rows is refused when it runs. */
  tables<Tables>(): ReadTables<Tables>
  /** All rows of a prepared statement (see `statement`). */
  run<Values, Row>(prepared: Prepared<Values, Row>, values: Values): Promise<Row[]>
  /** The first row of a prepared statement, if there is one. */
  first<Values, Row>(prepared: Prepared<Values, Row>, values: Values): Promise<Row | undefined>
}

/** The right to change the rows of one tenant, inside a transaction. It ends with the transaction: later use throws.
 * NOTE: nothing but database calls may be awaited while one is held. A statement that fails spoils the whole
 * transaction on PostgreSQL: let the error leave `transact`, or use `onConflict`. */
export interface Writer extends Reader {
  tables<Tables>(): WriteTables<Tables>
  /** Runs a prepared statement that changes rows and answers how many it changed. */
  change<Values, Row>(prepared: Prepared<Values, Row>, values: Values): Promise<number>
  /** Calls `effect` after the commit is durable; never when the transaction fails. Its own failure is logged. */
  afterCommit(effect: () => void): void
  /** The same transaction on another tenant's rows: for deliveries between tenants of this server and for jobs. */
  as(tenantId: TenantId): Writer
}

export interface TransactOptions {
  /** `serializable` when absent. `read-committed` is for leasing rows of a queue with `forUpdateSkipLocked`, where
   * rows are claimed by lock and a serialization conflict would only be noise. SQLite has no such difference. */
  readonly isolation?: 'serializable' | 'read-committed'
  /** For work that nobody waits for, such as a portion of many rows: on SQLite, where transactions run one after the
   * other, those of requests go first. It stays short all the same: those that come meanwhile wait for its end. */
  readonly isBackground?: boolean
}

export interface Database {
  readonly dialect: Dialect
  /** A handle for reads outside a transaction: each statement sees the newest committed state. */
  reader(tenantId: TenantId): Reader
  /** Runs `work` in one serializable transaction and answers when it is durable. On a serialization conflict or a
   * busy database `work` runs again, so it must have no effect outside the transaction but by `afterCommit`.
   * `E-UNAVAILABLE` when the database stays busy, cannot be reached or cannot be written. */
  transact<Result>(
    tenantId: TenantId,
    work: (tx: Writer) => Promise<Result>,
    options?: TransactOptions,
  ): Promise<Result>
  /** Reads what was there at one moment, however long that takes and whatever is written meanwhile. The readers end with
   * `read`: for copies of many rows, not for requests. */
  snapshot<Result>(read: (reader: (tenantId: TenantId) => Reader) => Promise<Result>): Promise<Result>
  /** Throws when the database does not answer. */
  ping(): Promise<void>
  /** How much room it takes. Nothing is counted for it: the system or the database server knows. */
  sizeBytes(): Promise<number>
  /** What is wrong with the stored data, one sentence each; empty when it is sound (PostgreSQL looks after itself). */
  integrityCheck(): Promise<string[]>
  /** Writes a consistent copy to a new file while the server runs. Only for SQLite; PostgreSQL has `pg_dump`. */
  backup(toPath: string): Promise<void>
  /** Waits for the transactions under way, then lets go of the database; later use throws. */
  close(): Promise<void>
}

/** A statement built and compiled once per dialect, run with named values; made by `statement`. */
export interface Prepared<Values, Row> {
  /** Distinct for each statement of this process. */
  readonly name: string
  readonly build: (dialect: Dialect) => Compilable<Row>
  /** Only to tell prepared statements with different values apart. */
  readonly values?: (values: Values) => void
}

/** Stands for a named value in a prepared statement. */
export type Placeholder<Values> = <Name extends keyof Values & string>(name: Name) => Expression<Values[Name]>
