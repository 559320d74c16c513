import type { Clock } from '#lib/clock.ts'

/** An answer that its client has not taken yet. */
interface Answer {
  readonly bytes: number
  readonly giveUp: () => void
  movedAtMs: number
}

// A slow connection takes a piece of an answer in less.
const stalledMs = 5000

/** The answers that wait to be sent, over all sockets of the process. Bound: above so many bytes the sockets that took
 * nothing of theirs for a while are ended. */
export class Answers {
  readonly #clock: Pick<Clock, 'now'>
  readonly #maxBytes: number
  // What has not moved for longest comes first.
  readonly #waiting = new Set<Answer>()
  #bytes = 0

  constructor(clock: Pick<Clock, 'now'>, maxBytes = 256 * 1024 ** 2) {
    this.#clock = clock
    this.#maxBytes = maxBytes
  }

  begin(bytes: number, giveUp: () => void): Answer {
    const answer = { bytes, giveUp, movedAtMs: this.#clock.now() }
    this.#waiting.add(answer)
    this.#bytes += bytes
    this.tick()
    return answer
  }

  /** A part of it was taken. */
  move(answer: Answer): void {
    answer.movedAtMs = this.#clock.now()
    if (this.#waiting.delete(answer)) this.#waiting.add(answer)
  }

  end(answer: Answer): void {
    if (this.#waiting.delete(answer)) this.#bytes -= answer.bytes
  }

  /** Ends stalled answers; called every second. */
  tick(): void {
    const sinceMs = this.#clock.now() - stalledMs
    for (const answer of this.#waiting) {
      if (this.#bytes <= this.#maxBytes || answer.movedAtMs > sinceMs) return
      this.end(answer)
      answer.giveUp()
    }
  }
}
