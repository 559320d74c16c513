import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { CompiledQuery, QueryResult } from 'kysely'
import { LRUCache } from 'lru-cache'
import { type RowMaker, rowMaker } from './row-maker.ts'
import { safeNumber } from './safe-number.ts'
import type { Session } from './session.ts'
import type { CompiledStatement } from './statement.ts'

interface OpenStatement {
  readonly prepared: StatementSync
  /** Undefined for a statement that answers no rows. */
  readonly maker: RowMaker | undefined
  readonly columnCount: number
}

// Query texts differ with the number of values in lists, so the rarely used ones are let go.
const maxOpenStatements = 500

// NOTE: in WAL mode a commit is not durable with `synchronous=normal`: the write queue brings the log to the disk before it
// acknowledges anything. With `full` SQLite would, and stop the process meanwhile.
// Checkpoints are made by a thread of their own, every 16 MB of log or so: pages that change often are copied less often.
// Here only where it could not keep up.
const writerPragmas = `
  pragma journal_mode = wal;
  pragma synchronous = normal;
  pragma journal_size_limit = 67108864;
  pragma wal_autocheckpoint = 16000;
`
const readerPragmas = 'pragma query_only = on;'
// NOTE: no `mmap_size`: every commit makes the readers map anew, which cost them two thirds of their speed.
const commonPragmas = `
  pragma trusted_schema = off;
  pragma cache_size = -16384;
  pragma temp_store = memory;
`
// A reader in WAL mode meets a lock only for moments (recovery, the last process that leaves). The writer does not
// wait inside SQLite, where it would stop the whole process: the queue waits and tries again.
const readerBusyMs = 1000
const openingBusyMs = 5000

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
    const values = parameters as SQLInputValue[]
    const open = this.#open(sql)
    if (open.maker) return { rows: this.#all(sql, open, values) }
    return { rows: [], numAffectedRows: BigInt(open.prepared.run(...values).changes) }
  }

  rows(statement: CompiledStatement, values: unknown): unknown[] {
    return this.#all(statement.sql, this.#open(statement.sql), statement.bind(values))
  }

  first(statement: CompiledStatement, values: unknown): unknown {
    const open = this.#open(statement.sql)
    const bound = statement.bind(values)
    const [row] = readRows(statement.sql, open, (prepared) => {
      const found: unknown = prepared.get(...bound)
      return found === undefined ? [] : [found as unknown[]]
    })
    return row && this.#makerFor(statement.sql, open, row)(row)
  }

  change(statement: CompiledStatement, values: unknown): number {
    return Number(this.#open(statement.sql).prepared.run(...statement.bind(values)).changes)
  }

  /** Runs a command without values or rows, for instance `begin immediate`. */
  command(sql: string): void {
    this.#open(sql).prepared.run()
  }

  /** How many rows this connection has changed since it was opened. */
  totalChanges(): number {
    const row = this.#open('select total_changes()').prepared.get() as unknown as [number]
    return row[0]
  }

  close(): void {
    this.#statements.clear()
    this.raw.close()
  }

  #all(sql: string, open: OpenStatement, values: SQLInputValue[]): unknown[] {
    const rows = readRows(sql, open, (prepared) => prepared.all(...values) as unknown as unknown[][])
    const [firstRow] = rows
    return firstRow ? rows.map(this.#makerFor(sql, open, firstRow)) : rows
  }

  /** A migration may have given a `select *` another column since it was prepared. */
  #makerFor(sql: string, open: OpenStatement, row: readonly unknown[]): RowMaker {
    if (open.maker && open.columnCount === row.length) return open.maker
    this.#statements.delete(sql)
    return rowMaker(open.prepared.columns().map(({ name }) => name))
  }

  #open(sql: string): OpenStatement {
    const known = this.#statements.get(sql)
    if (known) return known
    const prepared = this.raw.prepare(sql, { returnArrays: true })
    const columns = prepared.columns().map(({ name }) => name)
    const maker = columns.length > 0 ? rowMaker(columns) : undefined
    // Without rows it answers the last row id, which the index of texts makes larger than a number can be.
    if (!maker) prepared.setReadBigInts(true)
    const opened = { prepared, maker, columnCount: columns.length }
    this.#statements.set(sql, opened)
    return opened
  }
}

/** One number that no `number` holds, which only a fault can have stored, makes the driver refuse every row. Reading is
 * tried again then. */
function readRows(
  sql: string,
  { prepared }: OpenStatement,
  read: (prepared: StatementSync) => unknown[][],
): unknown[][] {
  try {
    return read(prepared)
  } catch (error) {
    // What changes rows and returns them has done so.
    if (!isOutOfRange(error) || !/^\s*select\b/i.test(sql)) throw error
    prepared.setReadBigInts(true)
    try {
      return read(prepared).map((row) => row.map((it) => (typeof it === 'bigint' ? safeNumber(it) : it)))
    } finally {
      prepared.setReadBigInts(false)
    }
  }
}

function isOutOfRange(error: unknown): boolean {
  return error instanceof RangeError && 'code' in error && error.code === 'ERR_OUT_OF_RANGE'
}

/** The connection that writes. It never waits for a lock by itself, once it is open. */
export function openWriter(path: string): SqliteConnection {
  const connection = new SqliteConnection(path, { readOnly: false, busyTimeoutMs: openingBusyMs })
  connection.raw.exec(`${commonPragmas}${writerPragmas} pragma busy_timeout = 0;`)
  return connection
}

/** A connection that cannot change anything; the writer's must have been opened before. */
export function openReader(path: string): SqliteConnection {
  const connection = new SqliteConnection(path, { readOnly: true, busyTimeoutMs: readerBusyMs })
  connection.raw.exec(commonPragmas + readerPragmas)
  return connection
}
