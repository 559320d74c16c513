import type { Clock } from './clock.ts'

interface PeriodicWorkOptions {
  readonly clock: Clock
  readonly everyMs: number
  work(): Promise<void> | void
  onError(error: unknown): void
}

/** Work that is done every `everyMs` while it is started, and never twice at the same time. */
export class PeriodicWork {
  readonly #options: PeriodicWorkOptions
  #cancelTimer: (() => void) | undefined
  #running: Promise<void> | undefined
  #mustRunAgain = false

  constructor(options: PeriodicWorkOptions) {
    this.#options = options
  }

  /** The first run is `everyMs` from now; nothing happens when it is started already. */
  start(): void {
    this.#cancelTimer ??= this.#wait()
  }

  /** A run under way goes on: `settled` waits for it. */
  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  /** Runs now, or once more after the run under way, which may have read what has changed since. Never rejects. */
  run(): Promise<void> {
    this.#mustRunAgain = true
    this.#running ??= this.#runWhileAsked()
    return this.#running
  }

  async settled(): Promise<void> {
    await this.#running
  }

  #wait(): () => void {
    const { clock, everyMs } = this.#options
    return clock.wakeAt(clock.now() + everyMs, () => {
      this.#cancelTimer = this.#wait()
      void this.run()
    })
  }

  async #runWhileAsked(): Promise<void> {
    while (this.#mustRunAgain) {
      this.#mustRunAgain = false
      try {
        // Async, so that what throws at once does not end the loop before `#running` is set.
        await (async () => this.#options.work())()
      } catch (error) {
        this.#options.onError(error)
      }
    }
    this.#running = undefined
  }
}
