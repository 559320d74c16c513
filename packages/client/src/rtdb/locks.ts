import { type RtdbLockMode, rtdbLimits } from '@kith/protocol'
import type { AnswerTo, DatabaseSocket } from './database-socket.ts'

// Three times before a lock would end.
const renewEveryMs = (rtdbLimits.lockSecs * 1000) / 3

/** The locks that the caller holds: renewed while there is a connection, and taken again on the next one. */
export class Locks {
  readonly #socket: () => DatabaseSocket
  // Bound: what the caller locks.
  readonly #held = new Map<string, RtdbLockMode>()
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(socket: () => DatabaseSocket) {
    this.#socket = socket
  }

  async take(path: string, mode: RtdbLockMode): Promise<AnswerTo<'lock'>> {
    const answer = await this.#socket().ask('lock', { path, mode })
    if (answer.locked) this.#held.set(path, mode)
    else this.#held.delete(path)
    this.#timer ??= setInterval(() => void this.open(), renewEveryMs)
    return answer
  }

  async release(path: string): Promise<void> {
    this.#held.delete(path)
    if (this.#held.size === 0) this.end()
    await this.#socket().ask('unlock', { path })
  }

  async open(): Promise<void> {
    const taking = [...this.#held].map(([path, mode]) => this.take(path, mode))
    await Promise.allSettled(taking)
  }

  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
