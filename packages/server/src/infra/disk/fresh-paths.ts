import { utimes } from 'node:fs/promises'
import type { Clock } from '#lib/clock.ts'
import { PeriodicWork } from '#lib/periodic-work.ts'

/** What no process has renewed for so long belongs to one that died. */
export const staleAfterMs = 40_000
const renewalMs = 10_000

/** Files and folders that a process works on: their times of access tell the others that it lives. */
export class FreshPaths {
  readonly #clock: Clock
  // As many as there are works under way.
  readonly #paths = new Set<string>()
  readonly #renewal: PeriodicWork

  constructor(clock: Clock) {
    this.#clock = clock
    this.#renewal = new PeriodicWork({
      clock,
      everyMs: renewalMs,
      work: () => this.#renewAll(),
      onError: () => undefined,
    })
  }

  has(path: string): boolean {
    return this.#paths.has(path)
  }

  /** Keeps an existing path fresh until it is let go. */
  keep(path: string): void {
    this.#paths.add(path)
    void this.#renew(path)
    this.#renewal.start()
  }

  letGo(path: string): void {
    this.#paths.delete(path)
    if (this.#paths.size === 0) this.#renewal.stop()
  }

  async #renewAll(): Promise<void> {
    await Promise.all([...this.#paths].map((path) => this.#renew(path)))
  }

  async #renew(path: string): Promise<void> {
    const now = this.#clock.now() / 1000
    // It may be gone already.
    await utimes(path, now, now).catch(() => undefined)
  }
}
