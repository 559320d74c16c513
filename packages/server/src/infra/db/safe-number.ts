/** A stored number as one that is exact: what lies beyond (a fault stored it) becomes the last one that does not, for nothing
 * that is made of rows takes another. */
export function safeNumber(value: bigint | string | number): number {
  const number = Number(value)
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, number))
}
