import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'

/** How often a request may come back to the server that sent it. */
export const maxLoops = 3

/** Recognizes requests that come back to this process, by a random word in their `Via` (RFC 9110 section 7.6.3). */
export class LoopGuard {
  readonly #word = `kith-${randomBytes(9).toString('base64url')}`
  readonly #current = new AsyncLocalStorage<number>()

  /** How often a request with this header has left this process. */
  countOf(via: string | undefined): number {
    return via === undefined ? 0 : via.split(this.#word).length - 1
  }

  /** The header of a request that is passed on: what it had, and this process. */
  extend(via: string | undefined): string {
    return via === undefined || via === '' ? `1.1 ${this.#word}` : `${via}, 1.1 ${this.#word}`
  }

  /** What leaves while `work` runs carries the count of loops on. */
  within<Result>(loops: number, work: () => Result): Result {
    return this.#current.run(loops, work)
  }

  /** The header of a request that leaves now. */
  get via(): string {
    const loops = (this.#current.getStore() ?? 0) + 1
    return Array.from({ length: loops }, () => `1.1 ${this.#word}`).join(', ')
  }
}
