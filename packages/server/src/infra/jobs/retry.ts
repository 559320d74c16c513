import { type GroupVerdict, JobVerdict, type RetryPolicy } from './job-kind.ts'

/** What became of one attempt. */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly atMs: number; readonly error: string; readonly group: GroupVerdict }
  | {
      readonly kind: 'dead'
      readonly error: string
      readonly group: GroupVerdict
      readonly isExpected?: true
    }
  /** The attempt does not count: the server stopped before it ended. */
  | { readonly kind: 'released' }

export interface AttemptedJob {
  /** This attempt included. */
  readonly attempts: number
  readonly giveUpAtMs: number | null
}

/** Longest time a handler may put a job off, whatever a peer asks for. */
const longestPutOffMs = 7 * 24 * 3600 * 1000
/** Errors are kept for people to read; a peer may send megabytes. */
const maxErrorChars = 500
/** A tenth more or less, so that jobs that failed together do not come back together. */
const jitter = 0.1

/** Milliseconds between attempt number `attempts` and the next. */
export function retryDelayMs(policy: RetryPolicy, attempts: number, random: () => number): number {
  const delayMs = Math.min(policy.longestDelayMs, policy.firstDelayMs * 2 ** Math.max(0, attempts - 1))
  return Math.min(policy.longestDelayMs, Math.round(delayMs * (1 - jitter + 2 * jitter * random())))
}

/** How a job goes on after its handler threw `error`. */
export function outcomeOfError(
  error: unknown,
  job: AttemptedJob,
  how: { readonly policy: RetryPolicy; readonly nowMs: number; readonly random: () => number },
): Outcome {
  const text = describeError(error)
  const verdict = error instanceof JobVerdict ? error.verdict : undefined
  if (verdict?.kind === 'dead')
    return {
      kind: 'dead',
      error: text,
      group: verdict.group ?? 'nothing',
      ...(verdict.isExpected ? { isExpected: true } : {}),
    }
  const { policy, nowMs } = how
  const askedMs = verdict?.atMs
  const atMs =
    askedMs === undefined
      ? nowMs + retryDelayMs(policy, job.attempts, how.random)
      : Math.min(Math.max(askedMs, nowMs), nowMs + longestPutOffMs)
  const isOver = job.attempts >= policy.maxAttempts || (job.giveUpAtMs !== null && atMs >= job.giveUpAtMs)
  const group = verdict?.group ?? 'failed'
  return isOver
    ? { kind: 'dead', error: text, group }
    : { kind: 'retry', atMs: Math.round(atMs), error: text, group }
}

/** How a job goes on whose node died or lost its lease. The first time it runs again at once: most likely it is not to
 * blame. A job that takes its node down each time comes back ever later, and ends. */
export function outcomeOfLostLease(
  job: AttemptedJob,
  how: { readonly policy: RetryPolicy; readonly nowMs: number; readonly random: () => number },
): Outcome {
  const { policy, nowMs } = how
  const error = 'The server stopped while this ran'
  if (job.attempts >= policy.maxAttempts) return { kind: 'dead', error, group: 'nothing' }
  const delayMs = job.attempts <= 1 ? 0 : retryDelayMs(policy, job.attempts - 1, how.random)
  return { kind: 'retry', atMs: nowMs + delayMs, error, group: 'nothing' }
}

/** How a job ends whose time ran out before it could run again. */
export function outcomeOfOverdue({ lastError }: { readonly lastError: string | null }): Outcome {
  // The last error of an attempt says more than that time ran out.
  return { kind: 'dead', error: lastError ?? 'Its time ran out before it could run', group: 'nothing' }
}

/** The sentence an admin reads about an error. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error).slice(0, maxErrorChars)
  const code = 'code' in error && typeof error.code === 'string' ? `${error.code}: ` : ''
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : ''
  return `${code}${error.message}${cause}`.slice(0, maxErrorChars)
}
