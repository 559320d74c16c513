import type { Bag } from '#lib/bag.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure, unauthenticated } from '#lib/failure.ts'
import { PeriodicWork } from '#lib/periodic-work.ts'
import { type AnswerSite, answerFailure } from './answer.ts'
import type { Exchange } from './exchange.ts'
import type { HttpHooks } from './request-admission.ts'

interface RunningReviewOptions {
  readonly site: AnswerSite
  readonly clock: Clock
  readonly hooks: HttpHooks
  /** Every request without a whole answer. */
  readonly running: Bag<Exchange>
}

// A suspension is noticed by admission within five seconds, and a removal begins after them.
const everyMs = 1_000

type Reviewed = Exchange & { readonly admitted: NonNullable<Exchange['admitted']> }

/** Cuts off requests whose callers may not be here any more: a body that comes slowly must not be written to a tenant that was
 * suspended since, nor a download go on. Those that take less than a second are never looked at. */
export class RunningReview {
  readonly #options: RunningReviewOptions
  readonly #work: PeriodicWork
  #hasFailed = false

  constructor(options: RunningReviewOptions) {
    this.#options = options
    this.#work = new PeriodicWork({
      ...{ clock: options.clock, everyMs },
      work: () => this.#review(),
      onError: (error) => this.#onError(error),
    })
  }

  start(): void {
    this.#work.start()
  }

  async stop(): Promise<void> {
    this.#work.stop()
    await this.#work.settled()
  }

  async #review(): Promise<void> {
    const { clock, running, hooks, site } = this.#options
    const upToMs = clock.now() - everyMs
    const long = [...running].filter(
      (exchange): exchange is Reviewed => exchange.admitted !== undefined && exchange.admitted.atMs <= upToMs,
    )
    if (long.length === 0) return
    const credentials = long.flatMap(({ admitted }) => admitted.credential ?? [])
    const tenantIds = new Set(long.map(({ admitted }) => admitted.tenant.tenantId))
    const [ended, endedTenants] = await Promise.all([
      hooks.listEnded?.(credentials),
      hooks.listEndedTenants?.([...tenantIds]),
    ])
    this.#hasFailed = false
    for (const exchange of long) {
      const { tenant, credential } = exchange.admitted
      if (endedTenants?.has(tenant.tenantId)) cutOff(site, exchange, new Failure('E-PROFILE-NOTFOUND'))
      else if (credential !== undefined && ended?.has(credential))
        cutOff(site, exchange, unauthenticated('revoked'))
    }
  }

  /** A database that is away must not end every request. */
  #onError(error: unknown): void {
    if (!this.#hasFailed)
      this.#options.site.logger.error({ err: error }, 'running requests could not be looked at again')
    this.#hasFailed = true
  }
}

function cutOff(site: AnswerSite, exchange: Exchange, failure: Failure): void {
  if (exchange.bagIndex === -1) return
  answerFailure(site, exchange, failure)
  // The answer is handed to the system within this turn of the loop.
  setImmediate(() => exchange.response.destroy())
}
