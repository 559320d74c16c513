import { ConnectionLost, endOf, noConnection } from '../realtime/connection-lost.ts'
import type { ConnectionState } from '../realtime/reconnecting-socket.ts'

interface ReadOptions {
  readonly baseUrl: string
  readonly timeoutMs: number
  readonly state: () => ConnectionState
}

interface Waiting {
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** Requests without side effects, which wait for a connection and are sent again when it breaks before the answer. */
export class Reads {
  readonly #options: ReadOptions
  // Bound: the pending calls of the application.
  readonly #waiting = new Set<Waiting>()

  constructor(options: ReadOptions) {
    this.#options = options
  }

  /** Rejects with `ConnectionLost` when there is no connection for `timeoutMs`, or it has ended. */
  async ask<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    if (this.#options.state().kind !== 'open') await this.#nextConnection()
    for (;;) {
      try {
        return await request()
      } catch (error) {
        if (!(error instanceof ConnectionLost) || this.#options.state().kind === 'ended') throw error
      }
      // The next one, whatever the state is: without that wait, a wrong state would be asked without end.
      await this.#nextConnection()
    }
  }

  stateChanged(state: ConnectionState): void {
    if (state.kind === 'connecting') return
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const { resolve, reject } of waiting) {
      if (state.kind === 'open') resolve()
      else reject(endOf(state))
    }
  }

  #nextConnection(): Promise<void> {
    const { state, timeoutMs, baseUrl } = this.#options
    const now = state()
    if (now.kind === 'ended') return Promise.reject(endOf(now))
    const { promise, ...waiting } = Promise.withResolvers<void>()
    this.#waiting.add(waiting)
    if (timeoutMs === Number.POSITIVE_INFINITY) return promise
    const timer = setTimeout(() => {
      this.#waiting.delete(waiting)
      waiting.reject(noConnection(baseUrl, timeoutMs, state()))
    }, timeoutMs)
    return promise.finally(() => clearTimeout(timer))
  }
}
