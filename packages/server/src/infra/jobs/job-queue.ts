import Type, { type Static } from 'typebox'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import { isGrouped } from './group-breaker.ts'
import { removeIdleGroups } from './job-group-store.ts'
import { type EnqueueOptions, type JobHandler, type JobKind, type Jobs, jobKind } from './job-kind.ts'
import { addKinds, lockKind } from './job-order-store.ts'
import { encodePayload } from './job-payload.ts'
import { expireFormerLeases, insertJobs, type NewJob, removeFinished, runSooner } from './job-store.ts'
import { Runner, type RunnerOptions } from './runner.ts'

/** The queue of one process: enqueues at any time, and runs jobs between `start` and `stop`. */
export interface JobQueue extends Jobs {
  /** Takes back what a former process of this node left behind, and begins to run jobs. */
  start(): Promise<void>
  /** Begins no more jobs, waits a bounded time for those that run, and gives the rest back. */
  stop(): Promise<void>
  /** For tests: resolves when no job runs here and none is due by the clock; jobs for later and jobs of groups that
   * rest stay. Throws when the database fails meanwhile. */
  settle(): Promise<void>
}

interface Registered {
  readonly kind: JobKind
  readonly work: JobHandler<JobKind>
}

const mostConcurrent = 1000
const recurringKey = 'every'
const cleanPeriodMs = 60_000
/** Finished jobs that one transaction removes. */
const rowsPerCleaning = 500
/** A host that nothing was sent to for so long is forgotten, its failures included. */
const keepIdleGroupMs = 24 * 3600 * 1000

const cleanJobs = jobKind({
  name: 'jobs.clean',
  payload: Type.Object({}),
  retry: { maxAttempts: 3, firstDelayMs: 1000, longestDelayMs: 10_000 },
  concurrency: 1,
  leaseMs: 60_000,
  keepDoneMs: 0,
})

/** Opens the queue on the tables that `jobsMigrations` makes. */
export function openJobs(options: RunnerOptions): JobQueue {
  return new DatabaseJobQueue(options)
}

class DatabaseJobQueue implements JobQueue {
  readonly #options: RunnerOptions
  readonly #runner: Runner
  // By name; as many as the program declares.
  readonly #registered = new Map<string, Registered>()
  readonly #periods = new Map<string, number>()
  #isStarted = false
  #starting: Promise<void> | undefined

  constructor(options: RunnerOptions) {
    this.#options = options
    this.#runner = new Runner(options)
    this.handle(cleanJobs, () => this.#clean())
    this.every(cleanJobs, cleanPeriodMs)
  }

  async enqueue<Kind extends JobKind>(
    tx: Writer,
    kind: Kind,
    payload: Static<Kind['payload']>,
    options?: EnqueueOptions,
  ): Promise<void> {
    await this.enqueueAll(tx, kind, [options ? { payload, options } : { payload }])
  }

  async enqueueAll<Kind extends JobKind>(
    tx: Writer,
    kind: Kind,
    jobs: readonly { payload: Static<Kind['payload']>; options?: EnqueueOptions }[],
  ): Promise<void> {
    const nowMs = this.#options.clock.now()
    await insertJobs(
      tx,
      jobs.map(({ payload, options = {} }) => newJob(tx, kind, { payload, options, nowMs })),
    )
    tx.afterCommit(() => this.#runner.notice(kind.name))
  }

  handle<Kind extends JobKind>(kind: Kind, handler: JobHandler<Kind>): void {
    this.#register({ kind, work: handler as JobHandler<JobKind> })
  }

  every(kind: JobKind, periodMs: number): void {
    this.#assertNotStarted()
    if (isGrouped(kind)) throw new TypeError(`Job "${kind.name}": a recurring kind has no groups`)
    encodePayload(kind, {})
    this.#periods.set(kind.name, periodMs)
  }

  async start(): Promise<void> {
    this.#assertNotStarted()
    this.#starting = this.#start()
    await this.#starting
  }

  async #start(): Promise<void> {
    for (const name of this.#periods.keys())
      if (!this.#registered.has(name)) throw new Error(`Job "${name}" recurs and has no handler`)
    this.#isStarted = true
    for (const registered of this.#registered.values())
      this.#runner.add({ ...registered, periodMs: this.#periods.get(registered.kind.name) })
    const own = { leaseNode: this.#options.nodeId, leaseToken: this.#runner.leaseToken }
    await this.#options.db.transact(serverTenant, async (tx) => {
      await addKinds(tx, [...this.#registered.keys()].sort())
      await expireFormerLeases(tx, own)
      for (const [name, periodMs] of this.#periods) await this.#addRecurring(tx, name, periodMs)
    })
    this.#runner.start()
  }

  async stop(): Promise<void> {
    await this.#starting?.catch(() => undefined)
    await this.#runner.stop()
  }

  async settle(): Promise<void> {
    await this.#runner.settle()
  }

  #register(registered: Registered): void {
    this.#assertNotStarted()
    const { kind } = registered
    const { name, concurrency } = kind
    if (this.#registered.has(name)) throw new Error(`Job "${name}" has two handlers`)
    if (kind.group && kind.isFairByTenant)
      throw new TypeError(`Job "${name}": its groups are served round robin already`)
    if (concurrency < 1 || concurrency > mostConcurrent)
      throw new RangeError(`Job "${name}": its concurrency is from 1 to ${mostConcurrent}`)
    this.#registered.set(name, registered)
  }

  #assertNotStarted(): void {
    if (this.#isStarted) throw new Error('The handlers of jobs are registered before the start')
  }

  async #addRecurring(tx: Writer, name: string, periodMs: number): Promise<void> {
    const kind = this.#registered.get(name)?.kind
    if (!kind) return
    const nowMs = this.#options.clock.now()
    const options = { dedupKey: recurringKey }
    await insertJobs(tx, [{ ...newJob(tx, kind, { payload: {}, options, nowMs }), giveUpAtMs: null }])
    await runSooner(tx, { kind: name, dedupKey: recurringKey, latestMs: nowMs + periodMs })
  }

  async #clean(): Promise<void> {
    const { db, clock } = this.#options
    const nowMs = clock.now()
    const batch = { nowMs, limit: rowsPerCleaning }
    while ((await db.transact(serverTenant, (tx) => removeFinished(tx, batch), inBackground)) > 0) {
      // Each batch in a transaction of its own, so that other writes come between.
    }
    const idle = { beforeMs: nowMs - keepIdleGroupMs, limit: rowsPerCleaning }
    for (const { kind } of this.#registered.values())
      if (isGrouped(kind))
        await db.transact(
          serverTenant,
          async (tx) => {
            await lockKind(tx, kind.name)
            await removeIdleGroups(tx, { kind: kind.name, ...idle })
          },
          inBackground,
        )
  }
}

const inBackground = { isolation: 'read-committed', isBackground: true } as const

function newJob(
  tx: Writer,
  kind: JobKind,
  job: { readonly payload: unknown; readonly options: EnqueueOptions; readonly nowMs: number },
): NewJob {
  const { payload, options, nowMs } = job
  if ((kind.group === undefined) !== (options.groupKey === undefined))
    throw new TypeError(`Job "${kind.name}": a group key goes with a group policy`)
  const runAtMs = options.runAtMs ?? nowMs
  const { giveUpAfterMs } = kind.retry
  return {
    tenantId: tx.tenantId,
    kind: kind.name,
    payload: encodePayload(kind, payload),
    subject: options.subject ?? null,
    dedupKey: options.dedupKey ?? null,
    orderingKey: options.orderingKey ?? null,
    groupKey: kind.isFairByTenant ? String(tx.tenantId) : (options.groupKey ?? null),
    runAtMs,
    createdAtMs: nowMs,
    giveUpAtMs: giveUpAfterMs === undefined ? null : Math.max(runAtMs, nowMs) + giveUpAfterMs,
  }
}
