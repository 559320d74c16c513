/** Where the time comes from; tests put their own in. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number
  /** Calls `wake` once when the clock has reached `atMs`; the returned function calls it off. */
  wakeAt(atMs: number, wake: () => void): () => void
}

// setTimeout takes 31 bits of milliseconds; a longer wait is cut and looked at again.
const longestTimerMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  wakeAt(atMs, wake) {
    let timer: NodeJS.Timeout
    const arm = () => {
      const waitMs = atMs - Date.now()
      timer = setTimeout(
        () => (waitMs > longestTimerMs ? arm() : wake()),
        Math.max(0, Math.min(waitMs, longestTimerMs)),
      )
      timer.unref()
    }
    arm()
    return () => clearTimeout(timer)
  },
}

/** Resolves when so much time has passed by the clock. */
export function pauseFor(clock: Pick<Clock, 'now' | 'wakeAt'>, ms: number): Promise<void> {
  return new Promise((resolve) => clock.wakeAt(clock.now() + ms, resolve))
}

/** By how many seconds the clocks of two servers may differ (docs/protocol/action-tokens.md, Times). */
export const clockSkewSecs = 300

/** Whole Unix seconds, as the protocol counts. */
export function nowSecs(clock: Pick<Clock, 'now'>): number {
  return Math.floor(clock.now() / 1000)
}

/** The day of a time in Unix milliseconds, counted from the first of 1970 (UTC). */
export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / 86_400_000)
}
