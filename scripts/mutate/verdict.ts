export type Verdict = 'survived' | 'killed' | 'timed out'

/** A run of the tests of a stage, as far as it says something of a mutant. */
export interface TestRun {
  /** The worker was ended because the run took too long. */
  readonly isEnded: boolean
  /** The errors of each test, suite and module that failed, in the order in which they came. */
  readonly failures: readonly (readonly TestError[])[]
  /** It failed, or there was nothing to run, whether or not an error says why. */
  readonly isBad: boolean
}

interface TestError {
  readonly message: string
  readonly cause?: unknown
}

export interface Limits {
  readonly testMs: number
  readonly runMs: number
}

// Other work on the machine, which may begin after the first run, and collections of garbage.
const slowest = 5
const leastLimits: Limits = { testMs: 10_000, runMs: 60_000 }

/** For the first run, which nothing is known of. */
export const firstLimits: Limits = { testMs: 120_000, runMs: 600_000 }

/** How long tests may take with a mutant, from what they took without one. */
export function limitsAfter({ testMs, runMs }: Limits): Limits {
  return {
    testMs: Math.max(leastLimits.testMs, Math.ceil(slowest * testMs)),
    runMs: Math.max(leastLimits.runMs, Math.ceil(slowest * runMs)),
  }
}

/** A mutant is killed by what a test says of it, and not by time that passes: it may only be slow. */
export function verdictOf({ isEnded, failures, isBad }: TestRun): Verdict {
  if (isEnded) return 'timed out'
  // What fails after a timeout in the same test, as do its hooks, may fail because of it.
  const causes = failures.flatMap(([first]) => first ?? [])
  if (causes.length > 0) return causes.every(isTimeout) ? 'timed out' : 'killed'
  return isBad ? 'killed' : 'survived'
}

function isTimeout({ message, cause }: TestError): boolean {
  if (/^(Test|Hook) timed out in \d+ms|^Timed out in wait(For|Until)!/.test(message)) return true
  const { message: reason } = (cause ?? {}) as { readonly message?: unknown }
  return reason === 'Matcher did not succeed in time.'
}
