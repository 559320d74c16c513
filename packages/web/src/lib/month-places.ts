/** Months one below the other, and how high each is in proportion. */
export interface MonthPlace {
  readonly month: string
  readonly count: number
}

/** Where each month begins on a bar of length 1, and the end of the last. A month without many pictures has its heading all the
 * same. */
export function startsOf(months: readonly MonthPlace[]): readonly number[] {
  const weights = months.map(({ count }) => count + headingWeight)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let before = 0
  const starts = weights.map((weight) => {
    const start = before / total
    before += weight
    return start
  })
  return [...starts, 1]
}

// As much as a row of pictures on a phone.
const headingWeight = 3

/** The month at a place on that bar. */
export function monthAt(starts: readonly number[], place: number): number {
  const after = starts.findIndex((start) => start > place)
  const last = Math.max(0, starts.length - 2)
  return after < 0 ? last : Math.max(0, Math.min(last, after - 1))
}

/** To which month a key of the slider leads; undefined for other keys. */
export function monthStep(key: string, at: number, months: readonly MonthPlace[]): number | undefined {
  const last = months.length - 1
  const yearOf = (index: number) => months[index]?.month.slice(0, 4)
  const older = months.findIndex((_, index) => index > at && yearOf(index) !== yearOf(at))
  const newer = months.findIndex((_, index) => yearOf(index) === yearOf(Math.max(0, firstOfYear(at) - 1)))
  function firstOfYear(index: number): number {
    return months.findIndex((_, one) => yearOf(one) === yearOf(index))
  }
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowRight: at + 1,
    ArrowUp: at - 1,
    ArrowLeft: at - 1,
    PageDown: older < 0 ? last : older,
    PageUp: newer < 0 ? 0 : newer,
    Home: 0,
    End: last,
  }
  const wanted = steps[key]
  return wanted === undefined ? undefined : Math.max(0, Math.min(last, wanted))
}
