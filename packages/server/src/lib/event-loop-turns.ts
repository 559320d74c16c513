// Others are held up for so long; a portion that is under way may come on top.
const longestTurnMs = 8

// Work that waits for its turn, over all databases and sockets of the process. Bounded by the requests that are being answered.
const waiting: (() => void)[] = []
let isScheduled = false

/** Resumes one waiting work per turn of the event loop, so that other requests wait for one at a time. */
function runNext(): void {
  isScheduled = false
  const resume = waiting.shift()
  schedule()
  resume?.()
}

function schedule(): void {
  if (isScheduled || waiting.length === 0) return
  isScheduled = true
  setImmediate(runNext)
}

interface TurnsOptions {
  /** Resumes with the next turn, before work that is not urgent: for transactions, which other writers wait for. */
  readonly isUrgent?: boolean
}

/** Gives way to others whenever work has taken a while. */
export class EventLoopTurns {
  readonly #isUrgent: boolean
  #startedMs = performance.now()

  constructor({ isUrgent = false }: TurnsOptions = {}) {
    this.#isUrgent = isUrgent
  }

  /** Begins work that nothing was waiting for before: it has not taken any time yet. */
  begin(): void {
    this.#startedMs = performance.now()
  }

  /** Has it worked for so long that it has to give way? */
  get isOver(): boolean {
    return performance.now() - this.#startedMs >= longestTurnMs
  }

  /** True when it had to. */
  async giveWay(): Promise<boolean> {
    if (!this.isOver) return false
    await new Promise<void>((resolve) => {
      if (this.#isUrgent) {
        setImmediate(resolve)
        return
      }
      waiting.push(resolve)
      schedule()
    })
    this.#startedMs = performance.now()
    return true
  }
}
