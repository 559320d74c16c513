import type { BusEvent } from '@kith/protocol'

/** Gives events on, each once: the server sends them in the order of their numbers, and a replay may overlap with what is known. */
export class EventOrder {
  readonly #give: (event: BusEvent) => void
  #since: number | undefined

  constructor(since: number | undefined, give: (event: BusEvent) => void) {
    this.#since = since
    this.#give = give
  }

  /** The number of the last event that was given on. */
  get since(): number | undefined {
    return this.#since
  }

  /** Nothing up to this number follows any more: it was given on, or is lost. */
  continueFrom(seq: number): void {
    this.#since = seq
  }

  take(event: BusEvent): void {
    const { seq } = event
    if (seq !== undefined) {
      if (this.#since !== undefined && seq <= this.#since) return
      this.#since = seq
    }
    this.#give(event)
  }
}
