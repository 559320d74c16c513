import type { Logger } from '#infra/telemetry/index.ts'
import { type Clock, systemClock } from '#lib/clock.ts'
import type { Database } from './database.ts'
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
  /** Called when the database had no schema before. */
  readonly onNew?: () => void
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
  const { url, migrations, clock = systemClock } = options
  const { logger = unwatched.logger, metrics = unwatched.metrics } = options
  const limits = { ...defaultWriteQueueLimits, ...options.limits }
  const { hasBallast = false } = options
  const database = url.startsWith('sqlite:')
    ? new SqliteDatabase(url.slice('sqlite:'.length), { limits, watch: { logger, metrics }, hasBallast })
    : new PostgresDatabase(await connectPools(url), limits, { logger, metrics })
  try {
    if (options.schema === undefined && (await database.migrate(migrations, clock))) options.onNew?.()
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

async function connectPools(url: string): Promise<PostgresPools> {
  if (!/^postgres(ql)?:/.test(url)) throw new Error('A database URL begins with sqlite: or postgres:')
  // Imported only here, so that a server on SQLite never loads the driver.
  const { connectPools } = await import('./pg-pool.ts')
  return connectPools(url)
}
