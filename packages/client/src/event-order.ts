import type { BusEvent } from '@kith/protocol'

/** Gives events on in the order of their numbers, each once, while what was missed and what is new arrive together. */
export class EventOrder {
  readonly #give: (event: BusEvent) => void
  #since: number | undefined
  // While a replay runs. Bound: the server keeps a thousand events.
  #held: BusEvent[] | undefined

  constructor(since: number | undefined, give: (event: BusEvent) => void) {
    this.#since = since
    this.#give = give
  }

  /** The number of the last event that was given on. */
  get since(): number | undefined {
    return this.#since
  }

  /** Older events follow: newer ones wait. */
  hold(): void {
    this.#held ??= []
  }

  /** Nothing older follows. */
  release(): void {
    const held = (this.#held ?? []).sort((one, other) => (one.seq ?? 0) - (other.seq ?? 0))
    this.#held = undefined
    for (const event of held) this.take(event)
  }

  /** The connection broke: what waits would leave a hole before it, and comes again. */
  drop(): void {
    this.#held = undefined
  }

  take(event: BusEvent): void {
    if (this.#held) {
      this.#held.push(event)
      return
    }
    const { seq } = event
    if (seq !== undefined) {
      if (this.#since !== undefined && seq <= this.#since) return
      this.#since = seq
    }
    this.#give(event)
  }
}
