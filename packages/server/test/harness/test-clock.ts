import type { Clock } from '#lib/clock.ts'

interface Alarm {
  readonly atMs: number
  readonly wake: () => void
}

/** A clock that stands still until it is told to move. */
export class TestClock implements Clock {
  #nowMs: number
  readonly #alarms = new Set<Alarm>()

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs
  }

  readonly now = (): number => this.#nowMs

  readonly wakeAt = (atMs: number, wake: () => void): (() => void) => {
    const alarm = { atMs, wake }
    this.#alarms.add(alarm)
    // Like a timer of the system, an alarm in the past goes off soon, but never inside `wakeAt`.
    if (atMs <= this.#nowMs) setImmediate(() => this.#ring(alarm))
    return () => this.#alarms.delete(alarm)
  }

  /** Moves on, stopping at each alarm in the order of their times; alarms set meanwhile are part of it. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms
    for (let next = this.#nextBy(untilMs); next; next = this.#nextBy(untilMs)) {
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      this.#ring(next)
    }
    this.#nowMs = untilMs
  }

  #ring(alarm: Alarm): void {
    if (this.#alarms.delete(alarm)) alarm.wake()
  }

  #nextBy(untilMs: number): Alarm | undefined {
    let next: Alarm | undefined
    for (const alarm of this.#alarms)
      if (alarm.atMs <= untilMs && (!next || alarm.atMs < next.atMs)) next = alarm
    return next
  }
}
