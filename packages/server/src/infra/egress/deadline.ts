import { EgressError } from './egress.ts'

/** The end of one request: its time is over, its caller or the client gives up. `signal` is aborted with an
 * `EgressError`. */
export class Deadline {
  readonly #control = new AbortController()
  readonly #timer: NodeJS.Timeout
  readonly #parents: readonly AbortSignal[]
  readonly #giveUp = () => this.#control.abort(new EgressError('aborted', 'the request was called off'))

  constructor(timeoutMs: number, parents: readonly (AbortSignal | undefined)[]) {
    this.#parents = parents.filter((parent) => parent !== undefined)
    for (const parent of this.#parents) {
      if (parent.aborted) this.#giveUp()
      else parent.addEventListener('abort', this.#giveUp, { once: true })
    }
    this.#timer = setTimeout(() => {
      this.#control.abort(new EgressError('timeout', `no whole answer within ${timeoutMs} ms`))
    }, timeoutMs)
  }

  get signal(): AbortSignal {
    return this.#control.signal
  }

  clear(): void {
    clearTimeout(this.#timer)
    for (const parent of this.#parents) parent.removeEventListener('abort', this.#giveUp)
  }
}
