import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { readTrouble } from './s3-failure.ts'

const restMs = 5_000

/** Keeps requests from a store that gives no answer: after one that got none the others fail at once, until a single one
 * that tries again after some seconds gets any. */
export class S3Breaker {
  readonly #clock: Pick<Clock, 'now'>
  #restsUntilMs: number | undefined
  #isProbing = false

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  get isOpen(): boolean {
    return this.#restsUntilMs !== undefined
  }

  async run<Result>(ask: () => Promise<Result>): Promise<Result> {
    const isProbe = this.#admit()
    this.#isProbing ||= isProbe
    try {
      const result = await ask()
      this.#restsUntilMs = undefined
      return result
    } catch (error) {
      // An error that the store itself tells is an answer.
      const isAnswered = error instanceof Failure || readTrouble(error).status !== undefined
      this.#restsUntilMs = isAnswered ? undefined : this.#clock.now() + restMs
      throw error
    } finally {
      if (isProbe) this.#isProbing = false
    }
  }

  /** Whether this request is the one that tries again. */
  #admit(): boolean {
    if (this.#restsUntilMs === undefined) return false
    if (this.#isProbing || this.#clock.now() < this.#restsUntilMs)
      throw new Failure('E-UNAVAILABLE', { retryAfterSecs: restMs / 1000 })
    return true
  }
}
