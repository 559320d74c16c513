/** A stored number as a safe integer. A larger one, which only a fault can have stored, becomes the largest safe one, as
 * schemas of answers accept no other. */
export function safeNumber(value: bigint | string | number): number {
  const number = Number(value)
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, number))
}
