import type { Clock } from '#lib/clock.ts'

/** Gives up when nothing happens for a while: `signal` is aborted then. */
export class SilenceTimer {
  readonly #clock: Clock
  readonly #patienceMs: number
  readonly #control = new AbortController()
  #cancel: () => void = () => undefined

  constructor(clock: Clock, patienceMs: number) {
    this.#clock = clock
    this.#patienceMs = patienceMs
    this.restart()
  }

  get signal(): AbortSignal {
    return this.#control.signal
  }

  /** Something has happened. */
  restart(): void {
    this.stop()
    this.#cancel = this.#clock.wakeAt(this.#clock.now() + this.#patienceMs, () => this.#control.abort())
  }

  stop(): void {
    this.#cancel()
  }
}
