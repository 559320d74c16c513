import { type AnyCaller, idTagOf } from '#infra/caller/index.ts'
import { assertRate, type Counting, type RateLimits, rateFailure } from '#infra/http/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'

interface CountingDeps {
  readonly rateLimits: RateLimits
  readonly clock: Clock
}

// A client with too many sockets may try again when one of them has ended.
const overloadedSecs = 10

export const tooManySockets = () => new Failure('E-RATELIMIT', { retryAfterSecs: overloadedSecs })

/** Counts upgrades by address before the caller is known; authenticated callers have a rate of their own besides. */
export class UpgradeCounting implements Counting {
  readonly #deps: CountingDeps
  readonly #address: string
  readonly #refusal: Failure | undefined

  private constructor(deps: CountingDeps, address: string, refusal: Failure | undefined) {
    this.#deps = deps
    this.#address = address
    this.#refusal = refusal
  }

  static async of(deps: CountingDeps, address: string): Promise<UpgradeCounting> {
    const verdict = await deps.rateLimits.take('upgrade', address)
    const hasTooManyBad = deps.rateLimits.hasTooManyBadBearers(address)
    const refusal = !verdict.isAllowed
      ? rateFailure(verdict, deps.clock)
      : hasTooManyBad
        ? tooManySockets()
        : undefined
    return new UpgradeCounting(deps, address, refusal)
  }

  /** Whether the rate of the address is used up: then only authenticated callers are upgraded. */
  get isRefusing(): boolean {
    return this.#refusal !== undefined
  }

  stranger(): void {
    if (this.#refusal) throw this.#refusal
  }

  async badBearer(): Promise<void> {
    if (this.#refusal) throw this.#refusal
    await this.#deps.rateLimits.take('bad-bearer', this.#address)
  }

  async known(caller: AnyCaller): Promise<void> {
    if (!this.#refusal) return
    const idTag = idTagOf(caller)
    if (idTag === undefined) throw this.#refusal
    await assertRate(this.#deps, 'upgrade', idTag)
  }
}

/** For what counts where it is answered. */
export const uncounted: Counting = {
  stranger: () => undefined,
  badBearer: () => undefined,
  known: () => undefined,
}
