import type { CompiledQuery, QueryResult } from 'kysely'
import type { Dialect } from './database.ts'
import type { CompiledStatement } from './statement.ts'

/** SQLite answers at once, PostgreSQL later. */
export type MaybePromise<Value> = Value | Promise<Value>

/** What a handle needs of a connection, or of a pool of them. */
export interface Session {
  readonly dialect: Dialect
  query(query: CompiledQuery): MaybePromise<QueryResult<unknown>>
  rows(prepared: CompiledStatement, values: unknown): MaybePromise<unknown[]>
  first(prepared: CompiledStatement, values: unknown): MaybePromise<unknown>
  change(prepared: CompiledStatement, values: unknown): MaybePromise<number>
}
