import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { backup } from 'node:sqlite'
import type { Clock } from '#lib/clock.ts'
import { Ballast } from './ballast.ts'
import { Checkpoints } from './checkpoints.ts'
import {
  type Database,
  type Reader,
  serverTenant,
  type TenantId,
  type TransactOptions,
  type Writer,
} from './database.ts'
import { counted, type DatabaseMetrics, type DatabaseWatch } from './database-watch.ts'
import { ReaderHandle, ReadSource } from './handles.ts'
import { type Migration, migrate } from './migrator.ts'
import { openReader, openWriter, type SqliteConnection } from './sqlite-connection.ts'
import { assertOutsideTransaction } from './transaction-scope.ts'
import { withoutTimeLimit } from './transaction-watch.ts'
import { WriteAheadLog } from './write-ahead-log.ts'
import { WriteQueue, type WriteQueueLimits } from './write-queue.ts'

const allPages = 2 ** 31 - 1
const ballastPeriodMs = 60_000

interface SqliteOptions {
  readonly limits: WriteQueueLimits
  readonly watch: DatabaseWatch
  readonly hasBallast: boolean
}

/** A SQLite file: one connection that writes, through the queue, and one that only reads. */
export class SqliteDatabase implements Database {
  readonly dialect = 'sqlite'
  readonly #path: string
  readonly #writer: SqliteConnection
  readonly #reader: SqliteConnection
  readonly #source: ReadSource
  readonly #log: WriteAheadLog
  readonly #checkpoints: Checkpoints
  readonly #queue: WriteQueue
  readonly #metrics: DatabaseMetrics
  readonly #ballast: Ballast | undefined
  #ballastAtMs = 0
  #closed: Promise<void> | undefined

  constructor(path: string, { limits, watch, hasBallast }: SqliteOptions) {
    this.#path = path
    this.#ballast = hasBallast ? new Ballast(path) : undefined
    // Already the opening writes.
    this.#ballast?.release()
    createPrivately(path)
    this.#writer = openWriter(path)
    this.#reader = openReader(path)
    this.#source = new ReadSource(this.#reader)
    this.#log = new WriteAheadLog(path)
    this.#checkpoints = new Checkpoints(path, watch.logger)
    this.#queue = new WriteQueue(
      {
        connection: this.#writer,
        log: this.#log,
        checkpoints: this.#checkpoints,
        makeRoom: () => this.#makeRoom(),
      },
      limits,
      watch,
    )
    this.#metrics = watch.metrics
  }

  reader(tenantId: TenantId): Reader {
    return new ReaderHandle(this.#source, tenantId)
  }

  async transact<Result>(
    tenantId: TenantId,
    work: (tx: Writer) => Promise<Result>,
    { isBackground = false }: TransactOptions = {},
  ): Promise<Result> {
    assertOutsideTransaction()
    const result = await counted(this.#metrics, () => this.#queue.add(tenantId, work, { isBackground }))
    this.#keepBallast()
    return result
  }

  async snapshot<Result>(read: (reader: (tenantId: TenantId) => Reader) => Promise<Result>): Promise<Result> {
    const connection = openReader(this.#path)
    try {
      connection.command('begin')
      const source = new ReadSource(connection)
      return await read((tenantId) => new ReaderHandle(source, tenantId))
    } finally {
      connection.close()
    }
  }

  migrate(migrations: readonly Migration[], clock: Clock): Promise<void> {
    return migrate(
      (work) => this.#queue.add(serverTenant, work, { limits: withoutTimeLimit }),
      migrations,
      clock,
    )
  }

  async ping(): Promise<void> {
    this.#reader.raw.exec('select 1 from sqlite_schema limit 1')
  }

  /** The file and its write-ahead log. */
  async sizeBytes(): Promise<number> {
    const files = await Promise.all([stat(this.#path), stat(`${this.#path}-wal`).catch(() => undefined)])
    return files.reduce((total, file) => total + (file?.size ?? 0), 0)
  }

  async integrityCheck(): Promise<string[]> {
    try {
      const rows = this.#reader.raw.prepare('pragma integrity_check(100)').all()
      return rows.flatMap((row) => String(row.integrity_check).split('\n')).filter((line) => line !== 'ok')
    } catch (error) {
      // So broken that it cannot even be looked through.
      return [String(error)]
    }
  }

  async backup(toPath: string): Promise<void> {
    if (existsSync(toPath)) throw new Error(`${toPath} exists already`)
    // A connection of its own, so that reads do not wait for the thread that copies. All pages in one step: between
    // steps a commit would make the copy start over.
    const source = openReader(this.#path)
    try {
      await backup(source.raw, toPath, { rate: allPages })
    } finally {
      source.close()
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  #keepBallast(): void {
    const nowMs = performance.now()
    if (!this.#ballast || nowMs < this.#ballastAtMs) return
    this.#ballastAtMs = nowMs + ballastPeriodMs
    void this.#ballast.hold()
  }

  /** Gives away the ballast, and the room of the log, whose pages go into the file where they have theirs. */
  #makeRoom(): boolean {
    const isGiven = this.#ballast?.release() ?? false
    return this.#truncateLog() || isGiven
  }

  #truncateLog(): boolean {
    try {
      if (statSync(`${this.#path}-wal`).size === 0) return false
      return this.#writer.raw.prepare('pragma wal_checkpoint(truncate)').get()?.busy === 0
    } catch {
      // The file has to grow as well.
      return false
    }
  }

  async #close(): Promise<void> {
    await this.#queue.close()
    await this.#checkpoints.close()
    await this.#ballast?.settle()
    await this.#log.close()
    this.#reader.close()
    this.#writer.close()
  }
}

/** SQLite gives its other files the mode of this one: the owner's alone. A file that exists is not even opened:
 * closing it again would take away the locks of this process's other connections to it. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600))
  } catch (error) {
    if (!existsSync(path)) throw error
  }
}
