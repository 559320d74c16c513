const leastSecs = 10
const mostSecs = 86_400
// So that a popular action makes ten deliveries a second at most, however many receive it.
const receiversPerSec = 10

/** Counting receivers stops where more of them change nothing. */
export const mostReceiversCounted = mostSecs * receiversPerSec

/** How long the counts of an action rest after its receivers were told: docs/protocol/delivery.md. */
export function secsBetweenCounts(receivers: number): number {
  return Math.min(mostSecs, Math.max(leastSecs, Math.ceil(receivers / receiversPerSec)))
}
