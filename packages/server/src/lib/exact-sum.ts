/** A sum from which numbers can be taken away again without a trace: parts that do not overlap hold what one number would
 * round off (Shewchuk, Adaptive Precision Floating-Point Arithmetic, 1997). Bound: some forty parts cover all exponents. */
export class ExactSum {
  #parts: number[] = []

  add(number: number): void {
    const parts: number[] = []
    let carried = number
    for (const part of this.#parts) {
      const [larger, smaller] = Math.abs(carried) < Math.abs(part) ? [part, carried] : [carried, part]
      carried = larger + smaller
      const rest = smaller - (carried - larger)
      if (rest !== 0) parts.push(rest)
    }
    if (carried !== 0) parts.push(carried)
    this.#parts = parts
  }

  /** The nearest number to the sum, whatever the order in which its numbers came. */
  get value(): number {
    let sum = 0
    let index = this.#parts.length - 1
    for (; index >= 0; index -= 1) {
      const part = this.#parts[index] ?? 0
      const before = sum
      sum = before + part
      const rest = part - (sum - before)
      if (rest === 0) continue
      return sum + halfway(sum, rest, this.#parts[index - 1] ?? 0)
    }
    return sum
  }
}

/** What has to be added when the rest lies exactly between two numbers, and what comes after it decides. */
function halfway(sum: number, rest: number, next: number): number {
  if (rest * next <= 0) return 0
  const doubled = rest * 2
  const candidate = sum + doubled
  return candidate - sum === doubled ? doubled : 0
}
