// Long enough for a steady figure, short enough to follow a change of network.
const windowMs = 10_000

/** Measures how fast bytes go, over the last ten seconds. */
export interface TransferRate {
  /** The bytes that were sent so far, in all. */
  note(sentBytes: number, nowMs: number): void
  /** Bytes per second; 0 until it is known. */
  at(nowMs: number): number
}

export function createTransferRate(): TransferRate {
  // Bound: one sample for each 200 ms of the window, and one before it.
  let samples: { readonly bytes: number; readonly ms: number }[] = []
  return {
    note(bytes, ms) {
      const last = samples.at(-1)
      if (last && ms - last.ms < 200) return
      samples = [...samples.filter((sample) => ms - sample.ms <= windowMs), { bytes, ms }]
    },
    at(nowMs) {
      const kept = samples.filter(({ ms }) => nowMs - ms <= windowMs)
      const [first] = kept
      const last = kept.at(-1)
      if (!first || !last || last.ms === first.ms) return 0
      return Math.max(0, ((last.bytes - first.bytes) / (last.ms - first.ms)) * 1000)
    },
  }
}
