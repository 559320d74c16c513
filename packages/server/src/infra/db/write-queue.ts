import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '#lib/failure.ts'
import type { TenantId } from './database.ts'
import { isBusy, isOutOfRoom, outwardError } from './database-errors.ts'
import { type DatabaseWatch, runEffect } from './database-watch.ts'
import { Transaction, WriterHandle } from './handles.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { callerContext, runInScope } from './transaction-scope.ts'
import { callSite, type WorkLimits, watchWork } from './transaction-watch.ts'

/** Bounds of the queue of one SQLite file. */
export interface WriteQueueLimits extends WorkLimits {
  /** Transactions that wait; one more is refused with `E-UNAVAILABLE`. */
  readonly maxQueued: number
  /** Transactions that share one commit. */
  readonly maxBatch: number
  /** A batch takes no further transaction after this time. */
  readonly maxBatchMs: number
  /** How long a batch waits for as many transactions as shared the last commit. */
  readonly gatherMs: number
  /** How long a transaction waits while another process holds the write lock. */
  readonly maxBusyMs: number
  /** Batches that may run before a waiting background transaction; the next batch takes one. */
  readonly maxPassed: number
}

interface AddOptions {
  readonly limits?: WorkLimits
  /** It waits behind all transactions that are not in the background. */
  readonly isBackground?: boolean
}

export const defaultWriteQueueLimits: WriteQueueLimits = {
  maxQueued: 10_000,
  maxBatch: 200,
  maxBatchMs: 5,
  gatherMs: 2,
  maxBusyMs: 10_000,
  maxPassed: 1,
  warnMs: 250,
  limitMs: 10_000,
}

interface Entry {
  readonly tenantId: TenantId
  readonly work: (tx: WriterHandle) => Promise<unknown>
  readonly limits: WorkLimits
  readonly inContext: <Result>(run: () => Result) => Result
  readonly site: { readonly stack?: string }
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
  readonly queuedMs: number
}

interface Failed {
  readonly error: unknown
  readonly hasChanged: boolean
}

interface Done {
  readonly entry: Entry
  readonly result: unknown
  readonly effects: readonly (() => void)[]
  readonly changesSchema: boolean
}

const longestBusyPauseMs = 50

/** Makes what was committed durable. */
interface Log {
  sync(): Promise<void>
}

/** Copies the log into the file. */
interface LogCopy {
  committed(rows: number): void
  finish(): Promise<void>
}

/** What the queue writes to. */
interface Storage {
  readonly connection: SqliteConnection
  readonly log: Log
  readonly checkpoints?: LogCopy
  /** Finds room on a full disk; false when there is none. */
  readonly makeRoom?: () => boolean
}

/** Group commit: transactions that wait at the same time run one after the other between one BEGIN and one COMMIT, and
 * are acknowledged together when the log is on the disk; meanwhile the next batch gathers. A failed transaction undoes its
 * own changes alone: the whole batch is rolled back and run again with a savepoint each, which would cost too much for
 * every batch. */
export class WriteQueue {
  readonly #connection: SqliteConnection
  readonly #log: Log
  readonly #checkpoints: LogCopy | undefined
  readonly #makeRoom: () => boolean
  readonly #limits: WriteQueueLimits
  readonly #watch: DatabaseWatch
  // Both together are bounded by `maxQueued`.
  #entries: Entry[] = []
  #background: Entry[] = []
  // Batches that have run while the first background transaction waited.
  #passed = 0
  #running: Promise<void> | undefined
  // So many entries at the head of the queue get a commit of their own.
  #runAlone = 0
  // So many entries at the head of the queue get a savepoint each.
  #runGuarded = 0
  // How many shared the last commit.
  #batchSize = 1
  // Transactions that have been tried twice on a full disk.
  readonly #triedAgain = new WeakSet<Entry>()
  #isClosed = false
  // Set when a sync of the log failed: the system may then report lost pages as written.
  #isLogBroken = false

  constructor(storage: Storage, limits: WriteQueueLimits, watch: DatabaseWatch) {
    this.#connection = storage.connection
    this.#log = storage.log
    this.#checkpoints = storage.checkpoints
    this.#makeRoom = storage.makeRoom ?? (() => false)
    this.#limits = limits
    this.#watch = watch
  }

  add<Result>(
    tenantId: TenantId,
    work: (tx: WriterHandle) => Promise<Result>,
    { limits = this.#limits, isBackground = false }: AddOptions = {},
  ): Promise<Result> {
    if (this.#isClosed) return Promise.reject(new Error('The database is closed'))
    if (this.#isLogBroken) return Promise.reject(unavailable('The log is not on the disk'))
    if (this.#waiting >= this.#limits.maxQueued) return Promise.reject(unavailable('The write queue is full'))
    const site = callSite(this.add)
    return new Promise<unknown>((resolve, reject) => {
      const queuedMs = performance.now()
      const lane = isBackground ? this.#background : this.#entries
      lane.push({
        tenantId,
        work,
        limits,
        site,
        inContext: callerContext(),
        resolve,
        reject,
        queuedMs,
      })
      this.#running ??= this.#drain()
    }) as Promise<Result>
  }

  get #waiting(): number {
    return this.#entries.length + this.#background.length
  }

  /** Takes no more transactions and waits for those it has. */
  async close(): Promise<void> {
    this.#isClosed = true
    while (this.#running) await this.#running
  }

  async #drain(): Promise<void> {
    while (true) {
      await this.#gather()
      if (this.#waiting === 0) {
        // In the same step as the check of the queue, so that an entry added next starts it again.
        this.#running = undefined
        return
      }
      await this.#checkpoints?.finish()
      if (!(await this.#begin())) continue
      const taken: Entry[] = []
      try {
        await this.#runBatch(taken)
      } catch (error) {
        this.#abandon()
        for (const entry of taken) entry.reject(outwardError(error))
      }
    }
  }

  /** A turn of the event loop lets requests that have arrived meanwhile join, and reads go between batches. Where
   * several shared the last commit, as many are waited for a little: fewer commits write the same pages less often. */
  async #gather(): Promise<void> {
    await nextTurn()
    const isWorthWaiting = this.#entries.length > 0 && this.#entries.length < this.#batchSize
    if (isWorthWaiting && !this.#isClosed) await sleep(this.#limits.gatherMs)
  }

  #abandon(): void {
    try {
      if (this.#connection.raw.isTransaction) this.#connection.command('rollback')
    } catch (error) {
      // Every `begin` fails from now on, and says so to its callers.
      this.#watch.logger.error({ err: error }, 'A transaction could not be rolled back')
    }
  }

  /** Takes the write lock, waiting while another process has it. False when no transaction waits any more. */
  async #begin(): Promise<boolean> {
    for (let attempt = 0; this.#waiting > 0; attempt += 1) {
      try {
        this.#connection.command('begin immediate')
        return true
      } catch (error) {
        const giveUpMs = isBusy(error) ? performance.now() - this.#limits.maxBusyMs : Number.POSITIVE_INFINITY
        this.#rejectWaiting(error, giveUpMs)
        // The wait is asynchronous, so that reads go on; jitter keeps two processes from meeting again and again.
        await sleep(Math.random() * Math.min(longestBusyPauseMs, 2 ** attempt))
      }
    }
    return false
  }

  #rejectWaiting(error: unknown, queuedBeforeMs: number): void {
    const isOver = (entry: Entry) => entry.queuedMs < queuedBeforeMs
    const over = [...this.#entries.filter(isOver), ...this.#background.filter(isOver)]
    if (over.length === 0) return
    this.#entries = this.#entries.filter((entry) => !isOver(entry))
    this.#background = this.#background.filter((entry) => !isOver(entry))
    for (const entry of over) entry.reject(outwardError(error))
  }

  async #runBatch(taken: Entry[]): Promise<void> {
    const untilMs = performance.now() + this.#limits.maxBatchMs
    const changesBefore = this.#connection.totalChanges()
    const isAlone = this.#runAlone > 0
    const isGuarded = this.#runGuarded > 0
    const done: Done[] = []
    const lane = this.#chooseLane()
    const isPassed = () => lane === this.#background && this.#entries.length > 0
    do {
      const entry = lane.shift()
      if (!entry) break
      taken.push(entry)
      this.#runAlone = Math.max(0, this.#runAlone - 1)
      this.#runGuarded = Math.max(0, this.#runGuarded - 1)
      if (isGuarded) this.#connection.command('savepoint work')
      const outcome = await this.#runEntry(entry)
      if (isDone(outcome)) {
        if (isGuarded) this.#connection.command('release work')
        done.push(outcome)
        continue
      }
      // Some errors (a full disk, I/O) undo the whole transaction: the others run again.
      if (!this.#connection.raw.isTransaction) {
        if (!this.#findsRoom(outcome.error, [entry])) entry.reject(outcome.error)
        else this.#entries.unshift(entry)
        return this.#putBack(done)
      }
      if (isGuarded) this.#undoWork()
      else if (outcome.hasChanged) return this.#undoBatch(done, entry, outcome)
      entry.reject(outcome.error)
    } while (!isAlone && !isPassed() && taken.length < this.#limits.maxBatch && performance.now() < untilMs)
    this.#batchSize = taken.length
    if (!this.#commit(done)) return
    const changes = this.#connection.totalChanges() - changesBefore
    const isChanged = changes !== 0 || done.some((one) => one.changesSchema)
    if (isChanged && !(await this.#syncLog(done))) return
    if (isChanged) this.#checkpoints?.committed(changes)
    this.#acknowledge(done)
  }

  /** Background transactions get a batch when no others wait, and one place in every few batches otherwise. */
  #chooseLane(): Entry[] {
    if (this.#entries.length === 0) {
      this.#passed = 0
      return this.#background
    }
    // Those at the head are counted there.
    const isRunAgain = this.#runAlone > 0 || this.#runGuarded > 0
    if (this.#background.length > 0 && !isRunAgain) this.#passed += 1
    const first = this.#passed > this.#limits.maxPassed ? this.#background.shift() : undefined
    if (first) {
      this.#entries.unshift(first)
      this.#passed = 0
    }
    return this.#entries
  }

  async #runEntry(entry: Entry): Promise<Done | Failed> {
    const transaction = new Transaction(this.#connection)
    const { limits, site, inContext } = entry
    const changesBefore = this.#connection.totalChanges()
    try {
      const work = inContext(() =>
        runInScope(transaction, () => entry.work(new WriterHandle(transaction, entry.tenantId))),
      )
      const result = await watchWork(work, { limits, site, logger: this.#watch.logger })
      if (transaction.failure !== undefined) throw transaction.failure
      return { entry, result, effects: transaction.effects, changesSchema: transaction.changesSchema }
    } catch (error) {
      const hasChanged = transaction.changesSchema || this.#connection.totalChanges() !== changesBefore
      return { error: outwardError(error), hasChanged }
    } finally {
      transaction.end()
    }
  }

  /** Undoes what a failed work changed, under its savepoint. */
  #undoWork(): void {
    this.#connection.command('rollback to work')
    this.#connection.command('release work')
  }

  /** Undoes what a failed work changed, and with it what was done before it in this batch. */
  #undoBatch(done: readonly Done[], failed: Entry, { error }: Failed): void {
    this.#connection.command('rollback')
    if (done.length === 0) failed.reject(error)
    else {
      this.#entries.unshift(failed)
      this.#putBack(done)
      this.#runGuarded = done.length + 1
    }
  }

  #commit(done: readonly Done[]): boolean {
    try {
      this.#connection.command('commit')
      return true
    } catch (error) {
      this.#abandon()
      if (
        this.#findsRoom(
          error,
          done.map(({ entry }) => entry),
        )
      ) {
        this.#putBack(done)
        return false
      }
      const [only] = done
      if (only && done.length === 1) only.entry.reject(outwardError(error))
      else {
        // One of them may be the cause (a deferred foreign key, too much for the disk): each gets its own commit.
        this.#putBack(done)
        this.#runAlone = done.length
      }
      return false
    }
  }

  /** Whether transactions that were undone by a full disk should run again. */
  #findsRoom(error: unknown, undone: readonly Entry[]): boolean {
    if (!isOutOfRoom(error) || undone.some((entry) => this.#triedAgain.has(entry))) return false
    for (const entry of undone) this.#triedAgain.add(entry)
    return this.#makeRoom()
  }

  async #syncLog(done: readonly Done[]): Promise<boolean> {
    try {
      await this.#log.sync()
      return true
    } catch (error) {
      this.#isLogBroken = true
      this.#watch.logger.error(
        { err: error },
        'The log of the database is not on the disk: start the server again',
      )
      for (const { entry } of done) entry.reject(unavailable('The log is not on the disk'))
      this.#rejectWaiting(unavailable('The log is not on the disk'), Number.POSITIVE_INFINITY)
      return false
    }
  }

  #acknowledge(done: readonly Done[]): void {
    if (done.length > 0) this.#watch.metrics.batchCommitted(done.length)
    for (const { entry, result, effects } of done) {
      for (const effect of effects) runEffect(this.#watch, () => entry.inContext(effect))
      entry.resolve(result)
    }
  }

  #putBack(done: readonly Done[]): void {
    this.#entries.unshift(...done.map(({ entry }) => entry))
  }
}

function isDone(outcome: Done | Failed): outcome is Done {
  return 'entry' in outcome
}

function unavailable(reason: string): Failure {
  return new Failure('E-UNAVAILABLE', { cause: new Error(reason), retryAfterSecs: 1 })
}
