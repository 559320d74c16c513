import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { CompiledQuery, QueryResult } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Session } from './session.ts'
import type { CompiledStatement } from './statement.ts'

interface OpenStatement {
  readonly prepared: StatementSync
  readonly returnsRows: boolean
}

// Query texts differ with the number of values in lists, so the rarely used ones are let go.
const maxOpenStatements = 500

/** One connection to a SQLite file, with its prepared statements kept by their text. */
export class SqliteConnection implements Session {
  readonly dialect = 'sqlite'
  readonly raw: DatabaseSync
  readonly #statements = new LRUCache<string, OpenStatement>({ max: maxOpenStatements })

  constructor(path: string, options: { readOnly: boolean; busyTimeoutMs: number }) {
    this.raw = new DatabaseSync(path, {
      readOnly: options.readOnly,
      timeout: options.busyTimeoutMs,
      enableForeignKeyConstraints: true,
      defensive: true,
    })
  }

  query({ sql, parameters }: CompiledQuery): QueryResult<unknown> {
    const { prepared, returnsRows } = this.#open(sql)
    const values = parameters as SQLInputValue[]
    if (returnsRows) return { rows: prepared.all(...values) }
    return { rows: [], numAffectedRows: BigInt(prepared.run(...values).changes) }
  }

  rows(statement: CompiledStatement, values: unknown): unknown[] {
    return this.#open(statement.sql).prepared.all(...(statement.bind(values) as SQLInputValue[]))
  }

  first(statement: CompiledStatement, values: unknown): unknown {
    return this.#open(statement.sql).prepared.get(...(statement.bind(values) as SQLInputValue[]))
  }

  change(statement: CompiledStatement, values: unknown): number {
    return Number(
      this.#open(statement.sql).prepared.run(...(statement.bind(values) as SQLInputValue[])).changes,
    )
  }

  /** Runs a command without values or rows, for instance `begin immediate`. */
  command(sql: string): void {
    this.#open(sql).prepared.run()
  }

  close(): void {
    this.#statements.clear()
    this.raw.close()
  }

  #open(sql: string): OpenStatement {
    const known = this.#statements.get(sql)
    if (known) return known
    const prepared = this.raw.prepare(sql)
    const opened = { prepared, returnsRows: prepared.columns().length > 0 }
    this.#statements.set(sql, opened)
    return opened
  }
}
