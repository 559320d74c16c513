import type { Logger } from '#infra/telemetry/index.ts'

/** How long a transaction's work may take. */
export interface WorkLimits {
  /** Longer is logged with the place that called `transact`. */
  readonly warnMs: number
  /** Longer is given up: the work is rolled back and its Writer ends. */
  readonly limitMs: number
}

/** For migrations: they take as long as they need. */
export const withoutTimeLimit: WorkLimits = { warnMs: 60_000, limitMs: Number.POSITIVE_INFINITY }

/** The work of a transaction took too long. */
export class WorkGivenUp extends Error {
  constructor(limitMs: number) {
    super(`A transaction took longer than ${limitMs} ms`)
    this.name = 'WorkGivenUp'
  }
}

/** Remembers the place that called `transact`; the text of the stack is only made when it is read. */
export function callSite(below: (...rest: never[]) => unknown): { readonly stack?: string } {
  const site = {}
  Error.captureStackTrace(site, below)
  return site
}

/** Waits for a transaction's work, warns when it is slow and gives up at the limit: work that waits for anything but the
 * database delays every other writer. */
export function watchWork<Result>(
  work: Promise<Result>,
  watch: {
    readonly limits: WorkLimits
    readonly site: { readonly stack?: string }
    readonly logger: Pick<Logger, 'warn' | 'error'>
  },
): Promise<Result> {
  const { limits, site, logger } = watch
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      logger.error({ limitMs: limits.limitMs, stack: site.stack }, 'A transaction was given up')
      reject(new WorkGivenUp(limits.limitMs))
    }
    let timer = setTimeout(() => {
      logger.warn(
        { warnMs: limits.warnMs, stack: site.stack },
        'A transaction is slow: what is awaited in it?',
      )
      if (Number.isFinite(limits.limitMs)) timer = setTimeout(giveUp, limits.limitMs - limits.warnMs)
    }, limits.warnMs)
    work.then(
      (result) => {
        clearTimeout(timer)
        resolve(result)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
