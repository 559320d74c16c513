import type { Static, TSchema } from 'typebox'
import type { TenantId, Writer } from '#infra/db/index.ts'

// What a feature needs to declare, enqueue and handle jobs. docs/adr/0006-jobs.md lists what is promised and how it is kept.

/** How a kind of job is tried again. */
export interface RetryPolicy {
  /** After this many attempts, or `giveUpAfterMs`, the job is dead. An attempt that a crash cut short counts. */
  readonly maxAttempts: number
  /** Counted from the enqueueing, or from `runAtMs` where that is later; also while the group rests. */
  readonly giveUpAfterMs?: number
  /** Delay before attempt n+1 = `firstDelayMs` · 2^(n-1), at most `longestDelayMs`, with jitter. */
  readonly firstDelayMs: number
  readonly longestDelayMs: number
}

/** Limits for the jobs that share a group key, for instance the host they are sent to. Groups are served round robin. */
export interface GroupPolicy {
  /** Jobs of one group that run at the same time, over all nodes. */
  readonly concurrency: number
  /** After this many failures in a row the group rests, and is then probed with one job. What counts as a failure the
   * handler may say (`JobVerdict`). */
  readonly breakerFailures: number
  /** The first rest; each failed probe doubles it, up to `longestRestMs`. */
  readonly restMs: number
  readonly longestRestMs: number
}

/** A kind of job, as data. Payloads are checked against `payload` at enqueue and at dequeue. */
export interface JobKind<Payload extends TSchema = TSchema> {
  readonly name: string
  readonly payload: Payload
  readonly retry: RetryPolicy
  /** Jobs of this kind that run at the same time on one node; at most 1000. */
  readonly concurrency: number
  /** How the jobs take turns; without it they run in the order of their times. Of a kind with a policy every job has a
   * `groupKey`, and only those. `by tenant`: round robin between tenants, however many jobs one of them has. */
  readonly group?: GroupPolicy | 'by tenant'
  /** Lets go of a job's dedup key when it begins, for kinds that read once what others change meanwhile: what changes
   * then gets a job of its own. One that is to be tried again takes its key back; where another has it by then, it ends,
   * for that one does its work. */
  readonly freesDedupKey?: boolean
  /** A finished job keeps others with its dedup key out as well, as long as it is kept. */
  readonly keepsDedupKey?: boolean
  /** How long a finished job stays readable; it is removed at once when absent. */
  readonly keepDoneMs?: number
  /** How long a dead job stays for an admin to see; 30 days when absent. */
  readonly keepDeadMs?: number
  /** Set by `recurring`: there is one job of the kind, for the server's tenant, with an empty payload. It runs at the first
   * start ever and then so long after the last time it ended. */
  readonly everyMs?: number
}

export interface EnqueueOptions {
  /** Unix milliseconds; now when absent. */
  readonly runAtMs?: number
  /** While an unfinished job of the kind and tenant has this key, another is not added.
   * NOTE: the unfinished job may be running already, and may have read what this transaction changes, unless its kind
   * has `freesDedupKey`. */
  readonly dedupKey?: string
  /** Jobs of one kind with the same key, of whatever tenant, run one after the other in the order they were added. One
   * that waits to be tried again, or for its `runAtMs`, holds up those behind it; a dead one does not. */
  readonly orderingKey?: string
  readonly groupKey?: string
  /** What the job is about, for `listJobs`. */
  readonly subject?: string
}

export interface JobContext {
  readonly tenantId: TenantId
  /** 1 for the first try. */
  readonly attempt: number
  /** When the job was enqueued, Unix milliseconds. */
  readonly createdAtMs: number
  /** Aborted when the lease is lost or the server stops. */
  readonly signal: AbortSignal
}

export type JobHandler<Kind extends JobKind> = (
  payload: Static<Kind['payload']>,
  context: JobContext,
) => Promise<void>

/** What an attempt says of the group: that it failed, that it works, or nothing. */
export type GroupVerdict = 'failed' | 'works' | 'nothing'

/** Thrown by a handler to say how to go on; any other error is a failed attempt, of the group as well. `atMs` (Unix
 * milliseconds, for instance from a Retry-After) takes the place of the delay of the retry policy; at most 7 days from
 * now. `group` is `failed` for a retry and `nothing` for the dead, where it is absent. */
export class JobVerdict extends Error {
  readonly verdict:
    | {
        readonly kind: 'dead'
        readonly group?: GroupVerdict
        /** Nothing went wrong: there is nothing left to do. */
        readonly isExpected?: true
      }
    | { readonly kind: 'retry'; readonly atMs?: number; readonly group?: GroupVerdict }
  constructor(message: string, verdict: JobVerdict['verdict'], cause?: unknown) {
    super(message, { cause })
    this.name = 'JobVerdict'
    this.verdict = verdict
  }
}

/** Declares a kind of job. */
export function jobKind<const Kind extends JobKind>(kind: Kind): Kind {
  return kind
}

/** The durable queue, as features see it. Handlers run at least once for each job: after a crash, again. */
export interface Jobs {
  /** Adds a job to the transaction's tenant; it may run once the transaction has committed. */
  enqueue<Kind extends JobKind>(
    tx: Writer,
    kind: Kind,
    payload: Static<Kind['payload']>,
    options?: EnqueueOptions,
  ): Promise<void>
  /** Adds many jobs of one kind with one statement per few hundred rows. */
  enqueueAll<Kind extends JobKind>(
    tx: Writer,
    kind: Kind,
    jobs: readonly { payload: Static<Kind['payload']>; options?: EnqueueOptions }[],
  ): Promise<void>
  /** Registers the one handler of a kind; must happen before `start`. */
  handle<Kind extends JobKind>(kind: Kind, handler: JobHandler<Kind>): void
}
