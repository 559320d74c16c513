interface Gathering {
  readonly shortestMs: number
  readonly longestMs: number
  readonly work: () => void
}

/** Returns what asks for work to be done: once for all who ask within a moment, which becomes longer for as long as many ask. */
export function createGathering({ shortestMs, longestMs, work }: Gathering): () => void {
  let asked = 0
  let waitMs = shortestMs
  const doIt = () => {
    // One change tells twice at most: of the thing, and of what was made of it.
    waitMs = asked > 2 ? Math.min(2 * waitMs, longestMs) : shortestMs
    asked = 0
    work()
  }
  return () => {
    asked += 1
    if (asked === 1) setTimeout(doIt, waitMs)
  }
}
