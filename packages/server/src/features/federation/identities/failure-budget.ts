import { LRUCache } from 'lru-cache'
import type { Clock } from '#lib/clock.ts'

interface Account {
  readonly credits: number
  readonly atMs: number
}

// This many look-ups of one asker in a domain may fail at once, and then one more each second: enough for a provider
// with many removed names, too few to overload a host that is named in made-up identities.
const maxCredits = 60
const creditsPerMs = 1 / 1000
const maxAccounts = 5000

/** Bounds the failed look-ups of one asker below one registrable domain; `account` names both. */
export class FailureBudget {
  readonly #accounts = new LRUCache<string, Account>({ max: maxAccounts })
  readonly #clock: Pick<Clock, 'now'>

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  isExhausted(account: string): boolean {
    return this.#credits(account) < 1
  }

  charge(account: string): void {
    this.#accounts.set(account, { credits: this.#credits(account) - 1, atMs: this.#clock.now() })
  }

  #credits(name: string): number {
    const account = this.#accounts.get(name)
    if (!account) return maxCredits
    return Math.min(maxCredits, account.credits + (this.#clock.now() - account.atMs) * creditsPerMs)
  }
}
