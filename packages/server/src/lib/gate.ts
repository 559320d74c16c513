/** How many may be inside a gate and before it. */
export interface GateLimits {
  readonly total: number
  readonly perKey: number
  /** Whoever comes when this many wait for the same key is turned away with `GateFullError`. */
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
  readonly key: string
  readonly admit: () => void
}

/** Lets a limited number in at a time, in all and per key, first come first served among the keys that have room. */
export class Gate {
  readonly #limits: GateLimits
  // All are bounded: by `total`, and by `waiting`.
  readonly #inside = new Map<string, number>()
  readonly #waiting = new Map<string, number>()
  readonly #queue: Waiter[] = []
  #insideTotal = 0

  constructor(limits: GateLimits) {
    this.#limits = limits
  }

  /** Resolves with the function that leaves again, when there is room. Rejects with the signal's reason when it is
   * aborted before, and with `GateFullError` at once when the queue is full. */
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
    const sameKey = this.#waiting.get(key) ?? 0
    if (sameKey >= this.#limits.waitingPerKey || this.#queue.length >= this.#limits.waiting) {
      return Promise.reject(new GateFullError(key))
    }
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#queue.splice(this.#queue.indexOf(waiter), 1)
        count(this.#waiting, key, -1)
        reject(signal?.reason)
      }
      const waiter: Waiter = {
        key,
        admit: () => {
          signal?.removeEventListener('abort', giveUp)
          resolve()
        },
      }
      signal?.addEventListener('abort', giveUp, { once: true })
      this.#queue.push(waiter)
      count(this.#waiting, key, 1)
    })
  }

  #leave(key: string): void {
    this.#insideTotal -= 1
    count(this.#inside, key, -1)
    const at = this.#queue.findIndex((waiter) => this.#hasRoom(waiter.key))
    const [next] = at === -1 ? [] : this.#queue.splice(at, 1)
    if (!next) return
    count(this.#waiting, next.key, -1)
    this.#admit(next.key)
    next.admit()
  }
}

function count(numbers: Map<string, number>, key: string, by: 1 | -1): void {
  const number = (numbers.get(key) ?? 0) + by
  if (number > 0) numbers.set(key, number)
  else numbers.delete(key)
}
