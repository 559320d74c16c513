import { utimes } from 'node:fs/promises'
import type { Clock } from '#lib/clock.ts'

/** What no process has renewed for so long belongs to one that died. */
export const staleAfterMs = 40_000
const renewalMs = 10_000

/** Files and folders that a process works on: their times of access tell the others that it lives. */
export class FreshPaths {
  readonly #clock: Clock
  // As many as there are works under way.
  readonly #paths = new Set<string>()
  #cancelRenewal: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  has(path: string): boolean {
    return this.#paths.has(path)
  }

  /** Keeps an existing path fresh until it is let go. */
  keep(path: string): void {
    this.#paths.add(path)
    void this.#renew(path)
    this.#cancelRenewal ??= this.#renewLater()
  }

  letGo(path: string): void {
    this.#paths.delete(path)
    if (this.#paths.size === 0) this.#stop()
  }

  #stop(): void {
    this.#cancelRenewal?.()
    this.#cancelRenewal = undefined
  }

  #renewLater(): () => void {
    return this.#clock.wakeAt(this.#clock.now() + renewalMs, () => {
      void this.#renewAll()
    })
  }

  async #renewAll(): Promise<void> {
    await Promise.all([...this.#paths].map((path) => this.#renew(path)))
    this.#stop()
    if (this.#paths.size > 0) this.#cancelRenewal = this.#renewLater()
  }

  async #renew(path: string): Promise<void> {
    const now = this.#clock.now() / 1000
    // It may be gone already.
    await utimes(path, now, now).catch(() => undefined)
  }
}
