const leastSecs = 10
const mostSecs = 86_400
// Bounds the counts of one action to ten deliveries a second, however many receive it.
const receiversPerSec = 10

/** Receivers beyond this number do not change the interval. */
export const mostReceiversCounted = mostSecs * receiversPerSec

/** The least time between two deliveries of an action's counts to its receivers: docs/protocol/delivery.md. */
export function secsBetweenCounts(receivers: number): number {
  return Math.min(mostSecs, Math.max(leastSecs, Math.ceil(receivers / receiversPerSec)))
}
