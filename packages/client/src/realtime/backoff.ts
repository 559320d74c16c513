/** Exponential backoff with jitter. */
export interface Backoff {
  /** The delay before the next attempt, in ms. */
  next(): number
  /** Starts again with the first delay. */
  reset(): void
}

/** The delay doubles with each attempt up to `longestMs`. The value returned is random between half of it and all of it, so
 * that clients which lost the same server do not reconnect at the same moment. */
export function createBackoff({
  firstMs,
  longestMs,
}: {
  readonly firstMs: number
  readonly longestMs: number
}): Backoff {
  let attempts = 0
  return {
    next() {
      const widest = Math.min(longestMs, firstMs * 2 ** attempts)
      attempts = Math.min(attempts + 1, 30)
      return widest / 2 + (Math.random() * widest) / 2
    },
    reset() {
      attempts = 0
    },
  }
}
