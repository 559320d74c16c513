import { type RtdbLockMode, rtdbLimits } from '@kith/protocol'
import { ConnectionLost } from '../realtime/connection-lost.ts'
import type { AnswerTo, DatabaseSocket } from './database-socket.ts'

// Two renewals may fail before the server releases a lock.
const renewEveryMs = (rtdbLimits.lockSecs * 1000) / 3

/** The locks that this client holds. Renews them by a timer, and takes them again after a reconnection. */
export class Locks {
  readonly #socket: () => DatabaseSocket
  // Bound: the paths that the application locks.
  readonly #held = new Map<string, RtdbLockMode>()
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(socket: () => DatabaseSocket) {
    this.#socket = socket
  }

  /** Requests a lock; holds it from now on if it was granted. */
  async take(path: string, mode: RtdbLockMode): Promise<AnswerTo<'lock'>> {
    const answer = await this.#socket().ask('lock', { path, mode })
    if (answer.locked) this.#held.set(path, mode)
    else this.#held.delete(path)
    this.#timer ??= setInterval(() => void this.open(), renewEveryMs)
    return answer
  }

  /** Releases a lock. */
  async release(path: string): Promise<void> {
    this.#held.delete(path)
    if (this.#held.size === 0) this.end()
    try {
      await this.#socket().ask('unlock', { path })
    } catch (error) {
      // Locks end with their connection.
      if (!(error instanceof ConnectionLost)) throw error
    }
  }

  /** Requests all held locks again: renews them, or takes them on a new connection. */
  async open(): Promise<void> {
    const taking = [...this.#held].map(([path, mode]) => this.take(path, mode))
    await Promise.allSettled(taking)
  }

  /** Stops renewing. */
  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
