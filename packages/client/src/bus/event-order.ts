import type { BusEvent } from '@kith/protocol'

/** Passes each event to a listener once. The server sends events in ascending order of `seq`, but a replay may repeat some that
 * were received before; those are dropped. */
export class EventOrder {
  readonly #listener: (event: BusEvent) => void
  #since: number | undefined

  constructor(since: number | undefined, listener: (event: BusEvent) => void) {
    this.#since = since
    this.#listener = listener
  }

  /** The `seq` of the last event passed on; undefined before the first. */
  get since(): number | undefined {
    return this.#since
  }

  /** Continues after this `seq`, which may be lower than `since` after a gap: events up to it were passed on or are lost. */
  continueFrom(seq: number): void {
    this.#since = seq
  }

  /** Passes on one event of the server, unless its `seq` was seen before. Events without `seq` are always passed on. */
  take(event: BusEvent): void {
    const { seq } = event
    if (seq !== undefined) {
      if (this.#since !== undefined && seq <= this.#since) return
      this.#since = seq
    }
    this.#listener(event)
  }
}
