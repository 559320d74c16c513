import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextLoopTurn } from 'node:timers/promises'
import { type Database, serverTenant } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { listDueWork, nextAtMs } from './due-work-store.ts'
import type { JobHandler, JobKind } from './job-kind.ts'
import { type JobLogger, type JobMetrics, KindWorker } from './kind-worker.ts'
import { pollKind } from './poll-kind.ts'
import { ProcessLease } from './process-lease.ts'

export interface RunnerOptions {
  readonly db: Database
  readonly clock: Clock
  readonly logger: JobLogger
  readonly metrics?: JobMetrics
  /** Distinct among the processes that run at the same time. */
  readonly nodeId: string
  /** Of a process that has ended, whose jobs this one takes over at its start; the same one when absent. */
  readonly formerNodeId?: string | undefined
  /** Decides about jitter. */
  readonly random?: () => number
  /** How often to look for jobs that other processes have added; own ones are noticed when they are committed. */
  readonly pollMs?: number
  /** How long the jobs of a process that died wait for another. */
  readonly leaseMs?: number
  /** How long `stop` lets handlers run on before it tells them to end. */
  readonly graceMs?: number
}

const defaultPollMs = 1000
const defaultLeaseMs = 60_000
const defaultGraceMs = 10_000
/** How long `stop` waits for handlers that were told to end. */
const abortMs = 2000
/** Before the next try after a poll that failed, for instance because the database was away. */
const failurePauseMs = 1000

/** Leases jobs and runs them. All it does to the database happens in polls: one transaction at a time stores what
 * became of the jobs that have ended and leases others, for all kinds that need it. */
export class Runner {
  readonly #options: RunnerOptions
  readonly #lease: ProcessLease
  // By name; as many as the program declares.
  readonly #workers = new Map<string, KindWorker>()
  // A wake-up comes from a request or a transaction, whose async context must not reach the jobs.
  readonly #inOwnContext = AsyncLocalStorage.snapshot()
  #isRunning = false
  #isStopping = false
  #stopped: Promise<void> | undefined
  readonly #stopping = Promise.withResolvers<void>()
  #loop: Promise<void> | undefined
  #pollAtMs = Number.POSITIVE_INFINITY
  #cancelTimer: () => void = () => undefined
  #failure: unknown
  // Resolves when a poll or a job ends; a new one takes its place.
  #change = Promise.withResolvers<void>()

  constructor(options: RunnerOptions) {
    this.#options = options
    const { db, nodeId, leaseMs = defaultLeaseMs } = options
    this.#lease = new ProcessLease({ db, nodeId, leaseMs })
  }

  get kinds(): JobKind[] {
    return [...this.#workers.values().map(({ kind }) => kind)]
  }

  /** Of the lease that holds the jobs of this process. */
  get leaseToken(): string {
    return this.#lease.token
  }

  get #pollMs(): number {
    return this.#options.pollMs ?? defaultPollMs
  }

  /** Registers the one handler of a kind. */
  add(kind: JobKind, work: JobHandler<JobKind>): void {
    if (this.#workers.has(kind.name)) throw new Error(`Job "${kind.name}" has two handlers`)
    const { clock, logger, metrics, random = Math.random } = this.#options
    const onFinished = () => {
      this.#announce()
      this.#wake()
    }
    this.#workers.set(kind.name, new KindWorker(kind, work, { clock, random, logger, metrics, onFinished }))
  }

  start(): void {
    this.#isRunning = true
    this.#pollAtMs = this.#options.clock.now()
    this.#wake()
  }

  /** There may be something to do for a kind. */
  notice(kind: string): void {
    const worker = this.#workers.get(kind)
    if (!worker) return
    worker.isDirty = true
    this.#wake()
  }

  /** Waits until nothing is running and nothing is due. Throws when the database fails meanwhile. */
  async settle(): Promise<void> {
    this.#failure = undefined
    while (this.#isRunning) {
      if (this.#failure !== undefined) throw this.#failure
      if (this.#loop || this.#isBusy) await this.#change.promise
      else if (await this.#findDue()) this.#wake()
      else return this.#setTimer()
    }
  }

  /** Leases nothing more, waits a bounded time for what is running, and gives the rest back. */
  async stop(): Promise<void> {
    if (!this.#isRunning) return
    this.#stopped ??= this.#stop()
    await this.#stopped
  }

  async #stop(): Promise<void> {
    this.#isStopping = true
    this.#stopping.resolve()
    for (const worker of this.#workers.values()) worker.stop()
    await this.#drain(this.#options.graceMs ?? defaultGraceMs)
    for (const worker of this.#workers.values()) worker.abortAll()
    await this.#drain(abortMs)
    for (const worker of this.#workers.values()) worker.releaseAll()
    while (this.#loop) await this.#loop
    this.#isRunning = false
    this.#cancelTimer()
    this.#announce()
  }

  async #drain(ms: number): Promise<void> {
    const { clock } = this.#options
    const untilMs = clock.now() + ms
    const cancel = clock.wakeAt(untilMs, () => this.#announce())
    while (clock.now() < untilMs && (this.#loop || this.#isBusy)) await this.#change.promise
    cancel()
  }

  get #isBusy(): boolean {
    return this.#workers.values().some((worker) => !worker.isIdle)
  }

  #announce(): void {
    this.#change.resolve()
    this.#change = Promise.withResolvers()
  }

  #wake(): void {
    if (!this.#isRunning || this.#loop) return
    this.#loop = this.#inOwnContext(() => this.#run()).finally(() => {
      this.#loop = undefined
      this.#announce()
      if (this.#hasWork()) this.#wake()
      else this.#setTimer()
    })
  }

  #hasWork(): boolean {
    const nowMs = this.#options.clock.now()
    return (
      this.#isPollDue(nowMs) ||
      (this.#isBusy && this.#lease.isDue(nowMs)) ||
      this.#workers.values().some((worker) => worker.needsPoll(nowMs))
    )
  }

  #isPollDue(nowMs: number): boolean {
    if (this.#isStopping) return false
    // A poll further away than the time between two: the clock was set back.
    return this.#pollAtMs <= nowMs || this.#pollAtMs > nowMs + this.#pollMs
  }

  async #run(): Promise<void> {
    this.#cancelTimer()
    while (this.#hasWork()) {
      // Handlers that end in this turn of the event loop share the transaction.
      await nextLoopTurn()
      try {
        if (this.#isPollDue(this.#options.clock.now())) await this.#findDue()
        await this.#pollKinds()
      } catch (error) {
        // Another process takes what was not renewed in time.
        if (this.#lease.endIfOver(this.#options.clock.now())) this.#loseAll()
        this.#failure = error
        this.#announce()
        this.#options.logger.error({ err: error }, 'The job runner could not use the database')
        // The leases run out, or the next process of this node ends them.
        if (this.#isStopping) return this.#abandon()
        await this.#pause(failurePauseMs)
      }
    }
  }

  #abandon(): void {
    this.#isRunning = false
    this.#workers.clear()
  }

  #loseAll(): void {
    for (const worker of this.#workers.values()) worker.loseAll()
  }

  async #pollKinds(): Promise<void> {
    const { db, clock, random = Math.random } = this.#options
    const nowMs = clock.now()
    // The order of names is the order of locks.
    const workers = [...this.#workers.values()]
      .filter((worker) => worker.needsPoll(nowMs))
      .sort((a, b) => (a.kind.name < b.kind.name ? -1 : 1))
    if ((workers.length > 0 || this.#isBusy) && this.#lease.isDue(nowMs))
      if (!(await this.#lease.renew(nowMs))) this.#loseAll()
    if (workers.length === 0) return
    const taken = workers.map((worker) => ({ worker, request: worker.takeRequest(nowMs) }))
    const terms = { nowMs, leaseToken: this.#lease.token, random }
    try {
      const polls = await db.transact(
        serverTenant,
        async (tx) => {
          const results = []
          for (const { worker, request } of taken)
            results.push({ worker, request, result: await pollKind(tx, request, terms) })
          return results
        },
        { isolation: 'read-committed', isBackground: true },
      )
      for (const { worker, request, result } of polls) worker.apply(request, result)
    } catch (error) {
      for (const { worker, request } of taken) worker.giveBack(request)
      throw error
    }
    this.#announce()
  }

  /** Looks for work of all kinds; answers whether there is any for now. */
  async #findDue(): Promise<boolean> {
    const { db, clock } = this.#options
    this.#pollAtMs = clock.now() + this.#pollMs
    const allDueWork = await listDueWork(db.reader(serverTenant), {
      kinds: [...this.#workers.keys()],
      leaseToken: this.#lease.token,
    })
    let isAnyDue = false
    for (const dueWork of allDueWork) {
      const worker = this.#workers.get(dueWork.kind)
      if (!worker) continue
      worker.nextAtMs = nextAtMs(dueWork, clock.now())
      if (worker.nextAtMs <= clock.now()) isAnyDue = true
    }
    return isAnyDue
  }

  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#options.clock.wakeAt(this.#options.clock.now() + ms, resolve)
    await Promise.race([promise, this.#stopping.promise])
    cancel()
  }

  #setTimer(): void {
    this.#cancelTimer()
    if (!this.#isRunning) return
    const pollAtMs = this.#isStopping ? Number.POSITIVE_INFINITY : this.#pollAtMs
    const renewAtMs = this.#isBusy ? this.#lease.renewAtMs : Number.POSITIVE_INFINITY
    const atMs = Math.min(pollAtMs, renewAtMs, ...this.#workers.values().map((worker) => worker.wakeAtMs))
    if (atMs < Number.POSITIVE_INFINITY)
      this.#cancelTimer = this.#options.clock.wakeAt(atMs, () => this.#wake())
  }
}
