import { setImmediate as nextTurn } from 'node:timers/promises'

// Others are held up for so long; a portion that is under way may come on top.
const longestTurnMs = 8

/** Gives way to others whenever work has taken a while; true when it had. */
export class EventLoopTurns {
  #startedMs = performance.now()

  async giveWay(): Promise<boolean> {
    if (performance.now() - this.#startedMs < longestTurnMs) return false
    await nextTurn()
    this.#startedMs = performance.now()
    return true
  }
}
