/** Runs so many functions in each turn of the event loop, so that other work goes on. */
export class Turns {
  readonly #perTurn: number
  // Bound: connections that are not upgraded yet.
  readonly #waiting: (() => void)[] = []
  #left: number
  #isScheduled = false

  constructor(perTurn: number) {
    this.#perTurn = perTurn
    this.#left = perTurn
  }

  async take(): Promise<void> {
    this.#schedule()
    if (this.#left > 0) this.#left -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      const next = this.#waiting.splice(0, this.#perTurn)
      this.#left = this.#perTurn - next.length
      if (next.length > 0) this.#schedule()
      for (const resolve of next) resolve()
    })
  }
}
