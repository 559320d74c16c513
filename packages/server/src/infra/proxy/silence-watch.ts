import { Bag, type BagMember } from '#lib/bag.ts'
import type { Clock } from '#lib/clock.ts'
import { PeriodicWork } from '#lib/periodic-work.ts'

/** A connection or request that ends when nothing has moved for a while. */
export abstract class Watched implements BagMember {
  abstract limitMs: number
  /** Kept by the watch. */
  bagIndex = -1
  seenBytes = 0
  seenMs = 0
  /** Grows with every byte that moves. */
  abstract countBytes(): number
  abstract onSilence(): void
}

const lookEveryMs = 500

/** Ends what was silent for longer than its time. One timer for all, every half second while there is something to watch. */
export class SilenceWatch {
  readonly #clock: Clock
  // Bounded by the requests and tunnels under way.
  readonly #watched = new Bag<Watched>()
  readonly #looking: PeriodicWork
  readonly #onError: (error: unknown) => void

  constructor(clock: Clock, onError: (error: unknown) => void) {
    this.#clock = clock
    this.#onError = onError
    this.#looking = new PeriodicWork({ clock, everyMs: lookEveryMs, work: () => this.#look(), onError })
  }

  /** Begins to watch, or begins its time again. */
  start(watched: Watched): void {
    watched.seenBytes = watched.countBytes()
    watched.seenMs = this.#clock.now()
    this.#watched.add(watched)
    this.#looking.start()
  }

  end(watched: Watched): void {
    this.#watched.delete(watched)
  }

  #look(): void {
    const nowMs = this.#clock.now()
    for (const watched of this.#watched) {
      const bytes = watched.countBytes()
      if (bytes !== watched.seenBytes) {
        watched.seenBytes = bytes
        watched.seenMs = nowMs
      } else if (nowMs - watched.seenMs >= watched.limitMs) this.#end(watched)
    }
    if (this.#watched.size === 0) this.#looking.stop()
  }

  #end(watched: Watched): void {
    try {
      watched.onSilence()
    } catch (error) {
      this.#watched.delete(watched)
      this.#onError(error)
    }
  }
}
