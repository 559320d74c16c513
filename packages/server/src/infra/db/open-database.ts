import type { Logger } from '#infra/telemetry/index.ts'
import { type Clock, systemClock } from '#lib/clock.ts'
import { listAppliedMigrations } from './catalogue.ts'
import { type Database, serverTenant } from './database.ts'
import { type DatabaseMetrics, unwatched } from './database-watch.ts'
import type { Migration } from './migrator.ts'
import { PostgresDatabase } from './postgres-database.ts'
import type { PostgresPools } from './postgres-pool.ts'
import { SqliteDatabase } from './sqlite-database.ts'
import { defaultWriteQueueLimits, type WriteQueueLimits } from './write-queue.ts'

export interface OpenDatabaseOptions {
  /** `sqlite:/path/to/file` or `postgres://user:password@host/database`. */
  readonly url: string
  /** Every migration of the program, in order. */
  readonly migrations: readonly Migration[]
  /** Leaves the schema unchanged, for commands that only read; brought up to date when absent. */
  readonly schema?: 'as it is'
  /** Called before migrations are applied, with the ids of those that were applied before: none in a new database. What it throws
   * leaves the database as it is. */
  readonly beforeMigrations?: (database: Database, applied: readonly string[]) => Promise<void>
  readonly clock?: Clock
  readonly logger?: Pick<Logger, 'warn' | 'error'>
  readonly metrics?: DatabaseMetrics
  /** Keeps room on the disk of a SQLite file for the day when it is full. */
  readonly hasBallast?: boolean
  /** Bounds of the write queue of SQLite, and of the time a transaction may take on both. */
  readonly limits?: Partial<WriteQueueLimits>
}

/** Opens the database and, unless it is told not to, brings its schema up to date. */
export async function openDatabase(options: OpenDatabaseOptions): Promise<Database> {
  const { url } = options
  const { logger = unwatched.logger, metrics = unwatched.metrics } = options
  const limits = { ...defaultWriteQueueLimits, ...options.limits }
  const { hasBallast = false } = options
  const database = url.startsWith('sqlite:')
    ? new SqliteDatabase(url.slice('sqlite:'.length), { limits, watch: { logger, metrics }, hasBallast })
    : new PostgresDatabase(await connectPools(url), limits, { logger, metrics })
  try {
    if (options.schema === undefined) await bringUpToDate(database, options)
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

async function bringUpToDate(
  database: SqliteDatabase | PostgresDatabase,
  { migrations, clock = systemClock, beforeMigrations }: OpenDatabaseOptions,
): Promise<void> {
  if (beforeMigrations) {
    const applied = await listAppliedMigrations(database.reader(serverTenant))
    const isOlder = applied.length < migrations.length && applied.every((id, at) => migrations[at]?.id === id)
    if (isOlder) await beforeMigrations(database, applied)
  }
  await database.migrate(migrations, clock)
}

async function connectPools(url: string): Promise<PostgresPools> {
  if (!/^postgres(ql)?:/.test(url)) throw new Error('A database URL begins with sqlite: or postgres:')
  // Imported only here, so that a server on SQLite never loads the driver.
  const { connectPools } = await import('./pg-pool.ts')
  return connectPools(url)
}
