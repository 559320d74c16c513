/** How many messages a host reads of its app. */
export const paceLimits = {
  perSecond: 500,
  /** Read at once, after a pause. */
  burst: 2_000,
  /** Wait to be read; with more the app is ended. */
  waiting: 4_000,
} as const

const turnMs = 100

/** Reads messages in their order and at a bounded rate. Those above it wait, so that none is lost. */
export class Pace<Message> {
  readonly #read: (message: Message) => void
  readonly #overflow: () => void
  // Bound: `paceLimits.waiting`.
  #waiting: Message[] = []
  #tokens: number = paceLimits.burst
  #filledAtMs = performance.now()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isStopped = false

  constructor(read: (message: Message) => void, overflow: () => void) {
    this.#read = read
    this.#overflow = overflow
  }

  take(message: Message): void {
    if (this.#isStopped) return
    this.#fill()
    if (this.#waiting.length === 0 && this.#tokens >= 1) {
      this.#tokens -= 1
      this.#read(message)
      return
    }
    if (this.#waiting.length >= paceLimits.waiting) {
      this.stop()
      this.#overflow()
      return
    }
    this.#waiting.push(message)
    this.#timer ??= setTimeout(() => this.#readWaiting(), turnMs)
  }

  /** Drops what waits, and reads nothing more. */
  stop(): void {
    this.#isStopped = true
    this.#waiting = []
    clearTimeout(this.#timer)
  }

  #readWaiting(): void {
    this.#timer = undefined
    this.#fill()
    const count = Math.min(this.#waiting.length, Math.floor(this.#tokens))
    this.#tokens -= count
    for (const message of this.#waiting.splice(0, count)) if (!this.#isStopped) this.#read(message)
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#readWaiting(), turnMs)
  }

  #fill(): void {
    const nowMs = performance.now()
    const more = ((nowMs - this.#filledAtMs) / 1_000) * paceLimits.perSecond
    this.#filledAtMs = nowMs
    this.#tokens = Math.min(paceLimits.burst, this.#tokens + more)
  }
}
