/** One figure of one scenario, from several runs. */
export interface Figure {
  readonly name: string
  readonly unit: string
  /** Whether more is better: a rate, and not a time or a size. */
  readonly isRate: boolean
  readonly runs: readonly number[]
  readonly median: number
  readonly p50Ms?: number
  readonly p99Ms?: number
  readonly rssMb?: number
  /** Processor time of the server per request: steadier than rates on a machine that has other work. */
  readonly cpuMs?: number
  /** What the same machine can do at most, measured in the same run. */
  readonly ceiling?: { readonly name: string; readonly value: number }
  /** Share of the ceiling for rates; the figure itself otherwise. */
  readonly target?: { readonly text: string; readonly isMet: boolean }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** A rate with its ceiling, and the share of it that is asked for. */
export function rateFigure(
  name: string,
  runs: readonly number[],
  ceiling: { readonly name: string; readonly value: number },
  minShare: number,
): Figure {
  const value = median(runs)
  const share = value / ceiling.value
  const target = { text: `${share.toFixed(2)} of ceiling, target >= ${minShare}`, isMet: share >= minShare }
  return { name, unit: '1/s', isRate: true, runs, median: value, ceiling, target }
}

/** A time or a size that has to stay below a bound. */
export function boundedFigure(name: string, unit: string, runs: readonly number[], atMost: number): Figure {
  const value = median(runs)
  return {
    name,
    unit,
    isRate: false,
    runs,
    median: value,
    target: { text: `target <= ${atMost}`, isMet: value <= atMost },
  }
}

/** Runs `once` a few times, one after the other. */
export async function repeat<Result>(
  times: number,
  once: (run: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let run = 0; run < times; run += 1) results.push(await once(run))
  return results
}

/** A time for people to look at. */
export function timeFigure(name: string, runs: readonly number[]): Figure {
  return { name, unit: 'ms', isRate: false, runs, median: median(runs) }
}

/** The smallest value that so large a share of them does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
