import type { Clock } from './clock.ts'

const minuteMs = 60_000

/** So many in a minute, at once or evenly; of more than that each has to wait for its time. */
export class Pace {
  readonly #clock: Pick<Clock, 'now'>
  readonly #perMinute: number
  #left: number
  #atMs: number

  constructor(clock: Pick<Clock, 'now'>, perMinute: number) {
    this.#clock = clock
    this.#perMinute = perMinute
    this.#left = perMinute
    this.#atMs = clock.now()
  }

  /** Takes some; answers in how many milliseconds their time comes. A debt grows to no more than a minute. */
  take(count = 1): number {
    const nowMs = this.#clock.now()
    const gained = (Math.max(0, nowMs - this.#atMs) * this.#perMinute) / minuteMs
    this.#atMs = nowMs
    this.#left = Math.min(this.#perMinute, this.#left + gained)
    this.#left = Math.max(-this.#perMinute, this.#left - count)
    return this.#left >= 0 ? 0 : Math.ceil((-this.#left * minuteMs) / this.#perMinute)
  }
}
