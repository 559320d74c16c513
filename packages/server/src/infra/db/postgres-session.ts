import type { CompiledQuery, QueryResult } from 'kysely'
import { isStalePlan } from './database-errors.ts'
import type { PostgresQuery, PostgresResult } from './postgres-pool.ts'
import type { Session } from './session.ts'
import type { CompiledStatement } from './statement.ts'

/** Anything that runs queries: a pool, or one connection of it. */
interface Queryable {
  query(query: PostgresQuery): Promise<PostgresResult>
}

/** Queries through a pool or a connection; prepared statements are prepared on the connection by their name. */
export class PostgresSession implements Session {
  readonly dialect = 'postgres'
  readonly #target: Queryable
  readonly #isPool: boolean

  constructor(target: Queryable, options: { readonly isPool: boolean }) {
    this.#target = target
    this.#isPool = options.isPool
  }

  async query({ sql, parameters }: CompiledQuery): Promise<QueryResult<unknown>> {
    const { rows, rowCount } = await this.#target.query({ text: sql, values: [...parameters] })
    return { rows, numAffectedRows: BigInt(rowCount ?? 0) }
  }

  async rows(statement: CompiledStatement, values: unknown): Promise<unknown[]> {
    return (await this.#run(statement, values)).rows
  }

  async first(statement: CompiledStatement, values: unknown): Promise<unknown> {
    return (await this.#run(statement, values)).rows[0]
  }

  async change(statement: CompiledStatement, values: unknown): Promise<number> {
    return (await this.#run(statement, values)).rowCount ?? 0
  }

  async #run({ name, sql, bind }: CompiledStatement, values: unknown): Promise<PostgresResult> {
    const bound = bind(values)
    try {
      return await this.#target.query({ name, text: sql, values: bound })
    } catch (error) {
      // A migration by another node has changed the table under the plan. A transaction starts over.
      if (!this.#isPool || !isStalePlan(error)) throw error
      return this.#target.query({ text: sql, values: bound })
    }
  }
}
