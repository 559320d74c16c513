import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import {
  type Database,
  type Reader,
  serverTenant,
  type TenantId,
  type TransactOptions,
  type Writer,
} from './database.ts'
import { isSerializationFailure, isStalePlan, isUnavailable, outwardError } from './database-errors.ts'
import { counted, type DatabaseWatch, runEffect } from './database-watch.ts'
import { ReaderHandle, ReadSource, sessionOf, Transaction, WriterHandle } from './handles.ts'
import { type Migration, migrate } from './migrator.ts'
import type { PostgresClient, PostgresPools } from './postgres-pool.ts'
import { PostgresSession } from './postgres-session.ts'
import { assertOutsideTransaction, runInScope } from './transaction-scope.ts'
import { callSite, WorkGivenUp, type WorkLimits, watchWork, withoutTimeLimit } from './transaction-watch.ts'

// With random pauses that double up to the longest, conflicts are retried for about three seconds.
const maxAttempts = 20
const longestPauseMs = 200

interface Wanted<Result> {
  readonly tenantId: TenantId
  readonly work: (tx: WriterHandle) => Promise<Result>
  readonly begin: string
  readonly limits: WorkLimits
  readonly site: { readonly stack?: string }
}

/** A PostgreSQL server: transactions are serializable and run again when they conflict. */
export class PostgresDatabase implements Database {
  readonly dialect = 'postgres'
  readonly #pools: PostgresPools
  readonly #source: ReadSource
  readonly #limits: WorkLimits
  readonly #watch: DatabaseWatch
  #closed: Promise<void> | undefined

  constructor(pools: PostgresPools, limits: WorkLimits, watch: DatabaseWatch) {
    this.#pools = pools
    this.#source = new ReadSource(new PostgresSession(pools.readers, { isPool: true }))
    this.#limits = limits
    this.#watch = watch
  }

  reader(tenantId: TenantId): Reader {
    return new ReaderHandle(this.#source, tenantId)
  }

  async transact<Result>(
    tenantId: TenantId,
    work: (tx: Writer) => Promise<Result>,
    options: TransactOptions = {},
  ): Promise<Result> {
    assertOutsideTransaction()
    const begin = `begin isolation level ${options.isolation === 'read-committed' ? 'read committed' : 'serializable'}`
    const wanted = { tenantId, work, begin, limits: this.#limits, site: callSite(this.transact) }
    return counted(this.#watch.metrics, () => this.#runAgain(wanted))
  }

  async snapshot<Result>(read: (reader: (tenantId: TenantId) => Reader) => Promise<Result>): Promise<Result> {
    assertOutsideTransaction()
    const client = await this.#pools.writers.connect()
    const transaction = new Transaction(new PostgresSession(client, { isPool: false }))
    try {
      await client.query({ text: 'begin isolation level repeatable read read only' })
      const source = new ReadSource(sessionOf(transaction))
      const result = await read((tenantId) => new ReaderHandle(source, tenantId))
      transaction.end()
      await client.query({ text: 'commit' })
      client.release(false)
      return result
    } catch (error) {
      transaction.end()
      client.release(true)
      throw outwardError(error)
    }
  }

  migrate(migrations: readonly Migration[], clock: Clock): Promise<void> {
    const begin = 'begin isolation level read committed'
    const site = callSite(this.migrate)
    return migrate(
      (work) => this.#runAgain({ tenantId: serverTenant, work, begin, limits: withoutTimeLimit, site }),
      migrations,
      clock,
    )
  }

  async ping(): Promise<void> {
    try {
      await this.#pools.readers.query({ text: 'select 1' })
    } catch (error) {
      throw outwardError(error)
    }
  }

  async sizeBytes(): Promise<number> {
    try {
      const text = 'select pg_database_size(current_database()) as bytes'
      const { rows } = await this.#pools.readers.query({ text })
      const [row] = rows as { readonly bytes: string }[]
      return Number(row?.bytes)
    } catch (error) {
      throw outwardError(error)
    }
  }

  async integrityCheck(): Promise<string[]> {
    return []
  }

  async backup(): Promise<void> {
    throw new Error('A PostgreSQL database is backed up with pg_dump')
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await Promise.all([this.#pools.readers.end(), this.#pools.writers.end()])
  }

  async #runAgain<Result>(wanted: Wanted<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#runOnce(wanted)
      } catch (error) {
        if (!canRunAgain(error)) throw outwardError(error)
        if (attempt >= maxAttempts) throw new Failure('E-UNAVAILABLE', { cause: error, retryAfterSecs: 1 })
        await sleep(Math.random() * Math.min(longestPauseMs, 2 ** attempt))
      }
    }
  }

  async #runOnce<Result>({ tenantId, work, begin, limits, site }: Wanted<Result>): Promise<Result> {
    const client = await this.#pools.writers.connect()
    const transaction = new Transaction(new PostgresSession(client, { isPool: false }))
    let result: Result
    try {
      await client.query({ text: begin })
      const running = runInScope(transaction, () => work(new WriterHandle(transaction, tenantId)))
      result = await watchWork(running, { limits, site, logger: this.#watch.logger })
      transaction.end()
      if (transaction.failure !== undefined) throw transaction.failure
      await client.query({ text: 'commit' })
    } catch (error) {
      transaction.end()
      // A conflict counts, whatever error the work made of it; otherwise the error of the work is thrown.
      const cause = canRunAgain(transaction.failure) ? transaction.failure : error
      await leave(client, cause)
      throw cause
    }
    client.release(false)
    for (const effect of transaction.effects) runEffect(this.#watch, effect)
    return result
  }
}

function canRunAgain(error: unknown): boolean {
  return isSerializationFailure(error) || isStalePlan(error)
}

/** Undoes the transaction and gives the connection back, or closes it when it cannot serve the next one. */
async function leave(client: PostgresClient, cause: unknown): Promise<void> {
  if (isStalePlan(cause) || cause instanceof WorkGivenUp || isUnavailable(cause)) return client.release(true)
  try {
    await client.query({ text: 'rollback' })
    client.release(false)
  } catch {
    client.release(true)
  }
}
