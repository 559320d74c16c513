import { crdtLimits } from '@kith/protocol'
import type { Clock } from '#lib/clock.ts'
import type { AwarenessEntry } from '../socket/frames.ts'

interface PaceDeps {
  isNews(entry: AwarenessEntry): boolean
  /** Takes states whose turn has come. */
  onTurn(entries: readonly AwarenessEntry[]): void
}

/** Passes on so many new states of a connection in a second; of more it keeps the last one of each client for the next second.
 * What is not new costs nothing: stock clients send back all that they receive. */
export class AwarenessPace {
  readonly #clock: Clock
  readonly #deps: PaceDeps
  // Bound: what one connection may have.
  readonly #late = new Map<number, AwarenessEntry>()
  #second = 0
  #states = 0
  #bytes = 0
  #callOff: (() => void) | undefined

  constructor(clock: Clock, deps: PaceDeps) {
    this.#clock = clock
    this.#deps = deps
  }

  take(entries: readonly AwarenessEntry[]): void {
    const news = entries.filter((entry) => this.#deps.isNews(entry))
    if (news.length === 0) return
    if (!this.#callOff && this.#spend(news)) {
      this.#deps.onTurn(news)
      return
    }
    for (const entry of news) this.#putOff(entry)
    this.#callOff ??= this.#clock.wakeAt((this.#second + 1) * 1000, () => this.#catchUp())
  }

  end(): void {
    this.#callOff?.()
  }

  #putOff(entry: AwarenessEntry): void {
    const late = this.#late.get(entry.client)
    const hasRoom = late
      ? late.clock <= entry.clock
      : this.#late.size < crdtLimits.awarenessClientsPerConnection
    if (hasRoom) this.#late.set(entry.client, entry)
  }

  #catchUp(): void {
    this.#callOff = undefined
    const late = [...this.#late.values()]
    this.#late.clear()
    this.#spend(late)
    this.#deps.onTurn(late)
  }

  /** Counts them; false when they are too many for this second. */
  #spend(entries: readonly AwarenessEntry[]): boolean {
    const second = Math.floor(this.#clock.now() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#states = 0
      this.#bytes = 0
    }
    this.#states += entries.length
    for (const { state } of entries) this.#bytes += Buffer.byteLength(state)
    return this.#states <= crdtLimits.awarenessPerSecond && this.#bytes <= crdtLimits.awarenessBytesPerSecond
  }
}
