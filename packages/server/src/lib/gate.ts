/** How many may be inside a gate and before it. */
export interface GateLimits {
  readonly total: number
  readonly perKey: number
  /** When this many wait for the same key, the next one is refused with `GateFullError`. */
  readonly waitingPerKey: number
  /** The same for all keys together. */
  readonly waiting: number
}

/** The queue before a gate is full. */
export class GateFullError extends Error {
  constructor(key: string) {
    super(`too many are waiting for ${key}`)
    this.name = 'GateFullError'
  }
}

interface Waiter {
  readonly admit: () => void
  readonly turnAway: (reason: unknown) => void
}

/** Lets a limited number in at a time, in all and per key. Keys that have room take turns, however many wait for one; a
 * full queue turns away the last of the key that fills it. */
export class Gate {
  readonly #limits: GateLimits
  // All are bounded: by `total`, and by `waiting`.
  readonly #inside = new Map<string, number>()
  // The key that was let in last stands last.
  readonly #waiting = new Map<string, Waiter[]>()
  #insideTotal = 0
  #waitingTotal = 0

  constructor(limits: GateLimits) {
    this.#limits = limits
  }

  /** Resolves with the function that leaves again, when there is room. Rejects with the signal's reason when it is
   * aborted before, and with `GateFullError` when the queue is full. */
  async enter(key: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#hasRoom(key)) this.#admit(key)
    else await this.#wait(key, signal)
    let left = false
    return () => {
      if (left) return
      left = true
      this.#leave(key)
    }
  }

  #hasRoom(key: string): boolean {
    return this.#insideTotal < this.#limits.total && (this.#inside.get(key) ?? 0) < this.#limits.perKey
  }

  #admit(key: string): void {
    this.#insideTotal += 1
    count(this.#inside, key, 1)
  }

  #wait(key: string, signal: AbortSignal | undefined): Promise<void> {
    const sameKey = this.#waiting.get(key)?.length ?? 0
    if (sameKey >= this.#limits.waitingPerKey || !this.#makeRoom(sameKey))
      return Promise.reject(new GateFullError(key))
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#remove(key, waiter)
        reject(signal?.reason)
      }
      const stopListening = () => signal?.removeEventListener('abort', giveUp)
      const waiter: Waiter = {
        admit() {
          stopListening()
          resolve()
        },
        turnAway(reason) {
          stopListening()
          reject(reason)
        },
      }
      signal?.addEventListener('abort', giveUp, { once: true })
      const queue = this.#waiting.get(key) ?? []
      queue.push(waiter)
      this.#waiting.set(key, queue)
      this.#waitingTotal += 1
    })
  }

  /** Whether one more of a key with so many may wait, in the place of another where there is none left. */
  #makeRoom(sameKey: number): boolean {
    if (this.#waitingTotal < this.#limits.waiting) return true
    let most: [string, Waiter[]] | undefined
    for (const entry of this.#waiting) if (entry[1].length > (most?.[1].length ?? 0)) most = entry
    const [key, queue] = most ?? ['', []]
    const last = queue.at(-1)
    if (!last || queue.length <= sameKey + 1) return false
    this.#remove(key, last)
    last.turnAway(new GateFullError(key))
    return true
  }

  #remove(key: string, waiter: Waiter): void {
    const queue = this.#waiting.get(key) ?? []
    queue.splice(queue.indexOf(waiter), 1)
    if (queue.length === 0) this.#waiting.delete(key)
    this.#waitingTotal -= 1
  }

  #leave(leaver: string): void {
    this.#insideTotal -= 1
    count(this.#inside, leaver, -1)
    for (const [key, queue] of this.#waiting) {
      const [next] = queue
      if (!next || !this.#hasRoom(key)) continue
      this.#waiting.delete(key)
      this.#waiting.set(key, queue)
      this.#remove(key, next)
      this.#admit(key)
      next.admit()
      return
    }
  }
}

function count(numbers: Map<string, number>, key: string, by: 1 | -1): void {
  const number = (numbers.get(key) ?? 0) + by
  if (number > 0) numbers.set(key, number)
  else numbers.delete(key)
}
