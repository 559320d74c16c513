import type { ThreadDied } from '../threads/document-thread.ts'
import type { SentUpdate } from './open-document.ts'
import type { Participant } from './participant.ts'

/** What became of an update. `known`: it had nothing new. */
export type SubmitOutcome = 'new' | 'known' | 'refused' | 'failed'

/** An update that is not stored yet. */
export interface PendingUpdate extends SentUpdate {
  /** Undefined for what was not sent over a socket. */
  readonly from: Participant | undefined
  /** How many threads died while they applied it, with others or alone. */
  deaths: number
  settle(outcome: SubmitOutcome): void
}

// Of one commit.
const mostUpdates = 500
const mostBytes = 4 * 1024 ** 2
// An update is refused when so many threads died while they applied it.
const mostDeaths = 2

/** The updates of a document that wait for the next commit, in their order. */
export class PendingUpdates {
  // Bound: what each connection may have under way (`document-connection.ts`).
  #waiting: PendingUpdate[] = []

  get size(): number {
    return this.#waiting.length
  }

  add(update: Omit<PendingUpdate, 'deaths'>): void {
    this.#waiting.push({ ...update, deaths: 0 })
  }

  /** The updates for the next commit. */
  take(): PendingUpdate[] {
    const [first] = this.#waiting
    // An update that may have ended a thread is tried alone.
    if (first && first.deaths > 0) return this.#waiting.splice(0, 1)
    let bytes = 0
    let count = 0
    for (const waiting of this.#waiting) {
      const isTooLarge = count > 0 && bytes + waiting.bytes.length > mostBytes
      if (waiting.deaths > 0 || count >= mostUpdates || isTooLarge) break
      bytes += waiting.bytes.length
      count += 1
    }
    return this.#waiting.splice(0, count)
  }

  takeAll(): PendingUpdate[] {
    return this.#waiting.splice(0)
  }

  /** The thread died while it applied these: they are tried again, but for one that has ended too many. */
  putBack(batch: readonly PendingUpdate[], { isSuspect, isTooLong }: ThreadDied): void {
    const again: PendingUpdate[] = []
    for (const update of batch) {
      if (isSuspect) update.deaths += 1
      const isRefused = batch.length === 1 && (isTooLong || update.deaths >= mostDeaths)
      if (!isRefused) {
        again.push(update)
        continue
      }
      if (isTooLong) update.from?.close('full')
      else update.from?.noteMistake()
      update.settle('refused')
    }
    this.#waiting = [...again, ...this.#waiting]
  }
}
