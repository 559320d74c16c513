import { LRUCache } from 'lru-cache'
import type { Clock } from '#lib/clock.ts'

interface Account {
  readonly credits: number
  readonly atMs: number
}

// So many look-ups in a domain may fail at once, and then one more each second: enough for a provider with many names
// that are gone, too few to make a host suffer that strangers name in made-up identities.
const maxCredits = 60
const creditsPerMs = 1 / 1000
const maxDomains = 5000

/** Bounds how often look-ups below one registrable domain may come to nothing. */
export class FailureBudget {
  readonly #accounts = new LRUCache<string, Account>({ max: maxDomains })
  readonly #clock: Pick<Clock, 'now'>

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  isExhausted(domain: string): boolean {
    return this.#credits(domain) < 1
  }

  charge(domain: string): void {
    this.#accounts.set(domain, { credits: this.#credits(domain) - 1, atMs: this.#clock.now() })
  }

  #credits(domain: string): number {
    const account = this.#accounts.get(domain)
    if (!account) return maxCredits
    return Math.min(maxCredits, account.credits + (this.#clock.now() - account.atMs) * creditsPerMs)
  }
}
