import type { Static } from 'typebox'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import { reviveDead } from './dead-job-store.ts'
import { removeIdleGroups } from './job-group-store.ts'
import type { EnqueueOptions, JobHandler, JobKind, Jobs } from './job-kind.ts'
import { endLeasesOf, endOldLeases } from './job-lease-store.ts'
import { encodePayload } from './job-payload.ts'
import { insertJobs, type NewJob, removeFinished, runSooner } from './job-store.ts'
import { addSweep, recurringKey } from './recurring.ts'
import { Runner, type RunnerOptions } from './runner.ts'

/** The queue of one process: enqueues at any time, and runs jobs between `start` and `stop`. */
export interface JobQueue extends Jobs {
  /** Takes back what a former process of this node left behind, and begins to run jobs. */
  start(): Promise<void>
  /** Begins no more jobs, waits a bounded time for those that run, and gives the rest back. */
  stop(): Promise<void>
  /** Tries a dead job again, of whatever tenant; false when there is none with this number. */
  retryDead(tx: Writer, jobId: number): Promise<boolean>
  /** For tests: resolves when no job runs here and none is due by the clock; jobs for later and jobs of groups that
   * rest stay. Throws when the database fails meanwhile. */
  settle(): Promise<void>
}

const mostConcurrent = 1000
const cleanPeriodMs = 60_000
/** A host that nothing was sent to for so long is forgotten, its failures included. */
const keepIdleGroupMs = 24 * 3600 * 1000

/** Opens the queue on the tables that `jobsMigrations` makes. */
export function openJobs(options: RunnerOptions): JobQueue {
  return new DatabaseJobQueue(options)
}

class DatabaseJobQueue implements JobQueue {
  readonly #options: RunnerOptions
  readonly #runner: Runner
  #isStarted = false
  #starting: Promise<void> | undefined

  constructor(options: RunnerOptions) {
    this.#options = options
    this.#runner = new Runner(options)
    const { db, clock } = options
    addSweep(
      { db, jobs: this },
      { name: 'jobs.clean', everyMs: cleanPeriodMs },
      (tx, limit) => removeFinished(tx, { nowMs: clock.now(), limit }),
      (tx) => forgetOld(tx, { nowMs: clock.now(), leaseToken: this.#runner.leaseToken }),
    )
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
    if (this.#isStarted) throw new Error('The handlers of jobs are registered before the start')
    const { name, concurrency } = kind
    if (concurrency < 1 || concurrency > mostConcurrent)
      throw new RangeError(`Job "${name}": its concurrency is from 1 to ${mostConcurrent}`)
    this.#runner.add(kind, handler as JobHandler<JobKind>)
  }

  async start(): Promise<void> {
    if (this.#isStarted) throw new Error('The queue was started before')
    this.#isStarted = true
    this.#starting = this.#start()
    await this.#starting
  }

  async #start(): Promise<void> {
    const { db, nodeId, formerNodeId = nodeId } = this.#options
    const kinds = this.#runner.kinds
    await db.transact(serverTenant, async (tx) => {
      await endLeasesOf(tx, formerNodeId)
      for (const kind of kinds)
        if (kind.everyMs !== undefined) await this.#addRecurring(tx, kind, kind.everyMs)
    })
    this.#runner.start()
  }

  async stop(): Promise<void> {
    await this.#starting?.catch(() => undefined)
    await this.#runner.stop()
  }

  async retryDead(tx: Writer, jobId: number): Promise<boolean> {
    const kind = await reviveDead(tx, jobId, this.#options.clock.now())
    if (kind === undefined) return false
    tx.afterCommit(() => this.#runner.notice(kind))
    return true
  }

  async settle(): Promise<void> {
    await this.#runner.settle()
  }

  async #addRecurring(tx: Writer, kind: JobKind, everyMs: number): Promise<void> {
    const nowMs = this.#options.clock.now()
    const options = { dedupKey: recurringKey }
    await insertJobs(tx, [{ ...newJob(tx, kind, { payload: {}, options, nowMs }), giveUpAtMs: null }])
    await runSooner(tx, { kind: kind.name, dedupKey: recurringKey, latestMs: nowMs + everyMs })
  }
}

async function forgetOld(
  tx: Writer,
  terms: { readonly nowMs: number; readonly leaseToken: string },
): Promise<number> {
  await removeIdleGroups(tx, terms.nowMs - keepIdleGroupMs)
  await endOldLeases(tx, terms)
  return 0
}

function newJob(
  tx: Writer,
  kind: JobKind,
  job: { readonly payload: unknown; readonly options: EnqueueOptions; readonly nowMs: number },
): NewJob {
  const { payload, options, nowMs } = job
  const isByTenant = kind.group === 'by tenant'
  if ((kind.group !== undefined && !isByTenant) !== (options.groupKey !== undefined))
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
    groupKey: isByTenant ? String(tx.tenantId) : (options.groupKey ?? null),
    runAtMs,
    createdAtMs: nowMs,
    giveUpAtMs: giveUpAfterMs === undefined ? null : Math.max(runAtMs, nowMs) + giveUpAfterMs,
  }
}
