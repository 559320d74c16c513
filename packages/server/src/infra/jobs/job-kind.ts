import type { Static, TSchema } from 'typebox'
import type { TenantId, Writer } from '#infra/db/index.ts'

/** How a kind of job is tried again. */
export interface RetryPolicy {
  /** After this many attempts, or `giveUpAfterMs`, the job is dead. */
  readonly maxAttempts: number
  readonly giveUpAfterMs?: number
  /** Delay before attempt n+1 = `firstDelayMs` · 2^(n-1), at most `longestDelayMs`, with jitter. */
  readonly firstDelayMs: number
  readonly longestDelayMs: number
}

/** Limits for the jobs that share a group key, for instance the host they are sent to. */
export interface GroupPolicy {
  readonly concurrency: number
  /** After this many failures in a row the group rests, and is then probed with one job. */
  readonly breakerFailures: number
  readonly restMs: number
  readonly longestRestMs: number
}

/** A kind of job, as data. Payloads are checked against `payload` at enqueue and at dequeue. */
export interface JobKind<Payload extends TSchema = TSchema> {
  readonly name: string
  readonly payload: Payload
  readonly retry: RetryPolicy
  /** Jobs of this kind that run at the same time on one node. */
  readonly concurrency: number
  readonly leaseMs: number
  readonly group?: GroupPolicy
  /** How long a finished job stays readable; 0 removes it at once. */
  readonly keepDoneMs: number
}

export interface EnqueueOptions {
  /** Unix milliseconds; now when absent. */
  readonly runAtMs?: number
  /** While an unfinished job of the kind and tenant has this key, another is not added. */
  readonly dedupKey?: string
  /** Jobs of one kind with the same key run one after the other, in order. */
  readonly orderingKey?: string
  readonly groupKey?: string
  /** What the job is about, for `listJobs`. */
  readonly subject?: string
}

export interface JobContext {
  readonly tenantId: TenantId
  /** 1 for the first try. */
  readonly attempt: number
  /** Aborted when the lease is lost or the server stops. */
  readonly signal: AbortSignal
}

export type JobHandler<Kind extends JobKind> = (
  payload: Static<Kind['payload']>,
  context: JobContext,
) => Promise<void>

/** Thrown by a handler to say how to go on; any other error is a failed attempt. */
export class JobVerdict extends Error {
  readonly verdict: { readonly kind: 'dead' } | { readonly kind: 'retry'; readonly atMs?: number }
  constructor(message: string, verdict: JobVerdict['verdict'], cause?: unknown) {
    super(message, { cause })
    this.name = 'JobVerdict'
    this.verdict = verdict
  }
}

export function jobKind<const Kind extends JobKind>(kind: Kind): Kind {
  return kind
}

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
