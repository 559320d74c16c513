import { LRUCache } from 'lru-cache'
import type { Clock } from './clock.ts'

interface RecentReadsOptions {
  readonly clock: Pick<Clock, 'now'>
  readonly maxEntries: number
  readonly freshMs: number
}

/** What was read a short while ago. A read that was under way while something was forgotten is answered and not kept: it
 * may have seen what was there before the change. */
export class RecentReads<Key extends string | number, Value extends object | symbol> {
  // Bounded by `maxEntries`.
  readonly #kept: LRUCache<Key, Value>
  #generation = 0

  constructor({ clock, maxEntries, freshMs }: RecentReadsOptions) {
    // By size, each of 1: for a number of entries room would be made at once, and most servers never fill it.
    const bound = { maxSize: maxEntries, sizeCalculation: () => 1 }
    this.#kept = new LRUCache({ ...bound, ttl: freshMs, ttlResolution: 0, perf: { now: clock.now } })
  }

  /** What is kept under the key, or else what `load` reads; `undefined` is not kept. */
  async read<Found extends Value | undefined>(key: Key, load: () => Promise<Found>): Promise<Found | Value> {
    const known = this.#kept.get(key)
    if (known !== undefined) return known
    const startedIn = this.#generation
    const found = await load()
    if (found !== undefined && this.#generation === startedIn) this.#kept.set(key, found)
    return found
  }

  forget(key: Key): void {
    this.#generation += 1
    this.#kept.delete(key)
  }

  forgetAll(): void {
    this.#generation += 1
    this.#kept.clear()
  }

  forgetWhere(isMeant: (key: Key) => boolean): void {
    this.#generation += 1
    for (const key of this.#kept.keys()) if (isMeant(key)) this.#kept.delete(key)
  }
}
