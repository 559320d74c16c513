import { crdtLimits } from '@kith/protocol'
import type { Clock } from '#lib/clock.ts'
import type { AwarenessEntry } from '../socket/frames.ts'
import type { Verdict } from './awareness-table.ts'

interface PaceDeps {
  judge(entry: AwarenessEntry): Verdict
  /** The states as others may see them. */
  stamp(entries: readonly AwarenessEntry[]): readonly AwarenessEntry[]
  /** Does the connection have the client already? */
  isOwn(client: number): boolean
  /** Takes states of clients that were told to be gone at once, and new ones when their turn has come. */
  onTurn(entries: readonly AwarenessEntry[]): void
}

/** Passes on so many new states of a connection in a second; of more it keeps the last one of each client for the next second.
 * States that change nothing are not counted: y-websocket sends every awareness message back to the server. */
export class AwarenessPace {
  readonly #clock: Clock
  readonly #deps: PaceDeps
  // Bound: the clients that a connection has, and as many others.
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
    const said: AwarenessEntry[] = []
    const stale = new Map<number, AwarenessEntry>()
    for (const entry of entries) {
      const verdict = this.#deps.judge(entry)
      if (verdict === 'new') said.push(entry)
      if (verdict === 'stale') stale.set(entry.client, entry)
    }
    if (stale.size > 0) this.#deps.onTurn([...stale.values()])
    const news = said.length > 0 ? this.#deps.stamp(said) : said
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
    const { client, clock } = entry
    const late = this.#late.get(client)
    const isLower = late !== undefined && late.clock > clock
    const hasRoom = this.#late.size < crdtLimits.awarenessClientsPerConnection
    if (!isLower && (late || hasRoom || this.#deps.isOwn(client))) this.#late.set(client, entry)
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
