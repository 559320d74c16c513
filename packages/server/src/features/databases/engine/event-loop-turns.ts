import { setImmediate as nextTurn } from 'node:timers/promises'

// Others are held up for so long; a portion that is under way may come on top.
const longestTurnMs = 8

/** Gives way to others whenever work has taken a while. */
export class EventLoopTurns {
  #startedMs = performance.now()

  async giveWay(): Promise<void> {
    if (performance.now() - this.#startedMs < longestTurnMs) return
    await nextTurn()
    this.#startedMs = performance.now()
  }
}
