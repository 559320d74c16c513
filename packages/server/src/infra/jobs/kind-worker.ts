import type { TenantId } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { type JobContext, type JobHandler, type JobKind, JobVerdict } from './job-kind.ts'
import { decodePayload } from './job-payload.ts'
import type { JobRow } from './job-tables.ts'
import { type FinishedJob, isArranged, type PollRequest, type PollResult } from './poll-kind.ts'
import { type Outcome, outcomeOfError } from './retry.ts'

/** What the jobs module reports; pino's loggers fit. */
export interface JobLogger {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

/** Where counts of attempts go. */
export interface JobMetrics {
  jobRan(kind: string, outcome: 'done' | 'retry' | 'dead' | 'released', durationMs: number): void
}

export interface WorkerDeps {
  readonly clock: Clock
  readonly random: () => number
  readonly logger: JobLogger
  readonly metrics: JobMetrics | undefined
  /** Called when outcomes wait to be stored. */
  readonly onFinished: () => void
}

// What one poll stores and leases of a kind: few enough for the requests that wait for its transaction.
const maxJobsPerPoll = 24

interface RunningJob {
  readonly job: JobRow
  readonly abort: AbortController
  isFinished: boolean
}

/** The jobs of one kind on this node: which are running, and what a runner's next poll has to do for them. */
export class KindWorker {
  readonly kind: JobKind
  /** Whether there may be jobs to lease. */
  isDirty = true
  nextAtMs = Number.POSITIVE_INFINITY
  readonly #work: JobHandler<JobKind>
  readonly #deps: WorkerDeps
  // Bounded by the concurrency of the kind: a job leaves it when its outcome is stored or its lease is lost.
  readonly #running = new Map<number, RunningJob>()
  // Bounded by `#running`.
  #finished: FinishedJob[] = []
  #isStopping = false

  constructor(kind: JobKind, work: JobHandler<JobKind>, deps: WorkerDeps) {
    this.kind = kind
    this.#work = work
    this.#deps = deps
  }

  get isIdle(): boolean {
    return this.#running.size === 0
  }

  get #free(): number {
    return this.#freeAfter(Math.min(this.#finished.length, maxJobsPerPoll))
  }

  #freeAfter(stored: number): number {
    return this.#isStopping ? 0 : this.kind.concurrency - this.#running.size + stored
  }

  /** When this worker next needs a poll without being noticed. */
  get wakeAtMs(): number {
    return this.#free > 0 ? this.nextAtMs : Number.POSITIVE_INFINITY
  }

  needsPoll(nowMs: number): boolean {
    return this.#finished.length > 0 || this.#looks(nowMs)
  }

  #looks(nowMs: number): boolean {
    return this.#free > 0 && (this.isDirty || this.nextAtMs <= nowMs)
  }

  /** What the next poll has to do. What it stores is out of the worker's hands until `apply` or `giveBack`. */
  takeRequest(nowMs: number): PollRequest {
    const finished = this.#finished.slice(0, maxJobsPerPoll)
    const free = this.#freeAfter(finished.length)
    // An end may let another job begin, or set a time for the next: all but a plain success.
    const isPlain = finished.every(({ job, outcome }) => outcome.kind === 'done' && !isArranged(job))
    if (!isPlain || (finished.length > 0 && this.kind.everyMs !== undefined)) this.isDirty = true
    const looks = this.#looks(nowMs)
    const request: PollRequest = {
      kind: this.kind,
      finished,
      looks,
      free: Math.min(free, maxJobsPerPoll),
    }
    this.#finished = this.#finished.slice(finished.length)
    if (looks) this.isDirty = false
    return request
  }

  /** After a poll that failed: nothing of it happened. */
  giveBack(request: PollRequest): void {
    this.#finished.unshift(...request.finished)
    if (request.looks) this.isDirty = true
  }

  /** After a poll that was committed: runs what it leased. */
  apply(request: PollRequest, result: PollResult): void {
    for (const { job } of request.finished)
      if (this.#running.get(job.jobId)?.job === job) this.#running.delete(job.jobId)
    if (result.nextAtMs !== undefined) this.nextAtMs = result.nextAtMs
    for (const running of result.leased.map((job) => this.#begin(job))) void this.#run(running)
  }

  /** Takes no more jobs. */
  stop(): void {
    this.#isStopping = true
  }

  abortAll(): void {
    for (const { abort } of this.#running.values()) abort.abort(new Error('The server stops'))
  }

  /** Gives up the jobs that still run: their handlers may end, but another lease decides over them. */
  releaseAll(): void {
    for (const running of this.#running.values()) this.#finish(running, { kind: 'released' })
  }

  /** After the lease of the process was lost: others have its jobs, and what becomes of them here counts for nothing. */
  loseAll(): void {
    for (const running of this.#running.values()) this.#lose(running)
    this.#finished = []
    this.isDirty = true
  }

  #lose(running: RunningJob): void {
    const { job, abort } = running
    running.isFinished = true
    this.#running.delete(job.jobId)
    abort.abort(new Error('The lease of the job was lost'))
    this.#deps.logger.warn(
      { kind: this.kind.name, jobId: job.jobId },
      'Lost the lease of a job that was running',
    )
  }

  #begin(job: JobRow): RunningJob {
    const running = { job, abort: new AbortController(), isFinished: false }
    this.#running.set(job.jobId, running)
    return running
  }

  async #run(running: RunningJob): Promise<void> {
    const decoded = decodePayload(this.kind, running.job.payload)
    if ('problem' in decoded)
      return this.#report(running, { kind: 'dead', error: decoded.problem, group: 'nothing' }, 0)
    const { clock, random } = this.#deps
    const startedMs = clock.now()
    try {
      await this.#work(decoded.payload, contextOf(running))
      this.#report(running, { kind: 'done' }, clock.now() - startedMs)
    } catch (error) {
      const isReleased = this.#isStopping && running.abort.signal.aborted
      const how = { policy: this.kind.retry, nowMs: clock.now(), random }
      const outcome = isReleased ? ({ kind: 'released' } as const) : outcomeOfError(error, running.job, how)
      this.#report(running, outcome, clock.now() - startedMs, isReleased ? undefined : error)
    }
  }

  #report(running: RunningJob, outcome: Outcome, durationMs: number, err?: unknown): void {
    if (running.isFinished) return
    const { logger, metrics } = this.#deps
    const { jobId, attempts } = running.job
    // The message of a verdict without a cause is in the line; where it was thrown tells nothing more.
    const isTold = err === undefined || (err instanceof JobVerdict && err.cause === undefined)
    const details = { kind: this.kind.name, jobId, attempt: attempts, ...(isTold ? {} : { err }) }
    if (outcome.kind === 'dead' && outcome.isExpected)
      logger.info(details, `A job has nothing to do any more: ${outcome.error}`)
    else if (outcome.kind === 'dead') logger.warn(details, `A job is dead: ${outcome.error}`)
    if (outcome.kind === 'retry') logger.info(details, `A job will be tried again: ${outcome.error}`)
    metrics?.jobRan(this.kind.name, outcome.kind, durationMs)
    this.#finish(running, outcome)
  }

  #finish(running: RunningJob, outcome: Outcome): void {
    if (running.isFinished) return
    running.isFinished = true
    this.#finished.push({ job: running.job, outcome })
    this.#deps.onFinished()
  }
}

function contextOf({ job, abort }: RunningJob): JobContext {
  return {
    tenantId: job.tenantId as TenantId,
    attempt: job.attempts,
    createdAtMs: job.createdAtMs,
    signal: abort.signal,
  }
}
