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
  tables<Tables>(): ReadTables<Tables>
  /** Runs a prepared statement (see `statement`). */
  run<Row>(prepared: Prepared<Row>, values: Readonly<Record<string, unknown>>): Promise<Row[]>
}

/** The right to change the rows of one tenant, inside a transaction. It ends with the transaction: later use throws.
 * NOTE: nothing but database calls may be awaited while one is held. */
export interface Writer extends Reader {
  tables<Tables>(): WriteTables<Tables>
  /** Calls `effect` after the commit is durable; never when the transaction fails. Its own failure is logged. */
  afterCommit(effect: () => void): void
  /** The same transaction on another tenant's rows: for deliveries between tenants of this server and for jobs. */
  as(tenantId: TenantId): Writer
}

export interface Database {
  readonly dialect: Dialect
  /** A handle for reads outside a transaction: each statement sees the newest committed state. */
  reader(tenantId: TenantId): Reader
  /** Runs `work` in one serializable transaction and answers when it is durable. On a serialization conflict or a
   * busy database `work` runs again, so it must have no effect outside the transaction but by `afterCommit`. */
  transact<Result>(tenantId: TenantId, work: (tx: Writer) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/** A statement built and compiled once per dialect, run with named values. */
export interface Prepared<Row> {
  readonly build: (tables: Kysely<never>, dialect: Dialect) => Compilable<Row>
}

/** Stands for a named value in a prepared statement. */
export type Placeholder<Values> = <Name extends keyof Values & string>(name: Name) => Expression<Values[Name]>
