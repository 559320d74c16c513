/** How long to wait before the next attempt. */
export interface Backoff {
  next(): number
  /** An attempt has succeeded. */
  reset(): void
}

/** Waits that double up to the longest, each at a random point of its upper half, so that clients that lost a
 * server at the same moment do not all reconnect at the same moment. */
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
