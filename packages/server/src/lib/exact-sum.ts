// Numbers above this are added up apart, divided by a power of two: sums that come back from beyond the largest number are exact.
const large = 2 ** 970
const divisor = 2 ** 100

/** A sum from which numbers can be taken away again without a trace. */
export class ExactSum {
  readonly #small = new Parts()
  readonly #large = new Parts()

  add(number: number): void {
    if (Math.abs(number) < large) this.#small.add(number)
    else this.#large.add(number / divisor)
  }

  /** The nearest number to the sum, whatever the order in which its numbers came. */
  get value(): number {
    if (this.#large.isEmpty) return this.#small.value
    const sum = new Parts()
    for (const part of this.#large) sum.add(part)
    for (const part of this.#small) sum.add(part / divisor)
    return sum.value * divisor
  }
}

/** Parts that do not overlap hold what one number would round off (Shewchuk, Adaptive Precision Floating-Point Arithmetic,
 * 1997). Bound: some forty parts cover all exponents. */
class Parts {
  #parts: number[] = []

  get isEmpty(): boolean {
    return this.#parts.length === 0
  }

  [Symbol.iterator](): Iterator<number> {
    return this.#parts.values()
  }

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
