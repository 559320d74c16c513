/** Seconds since 1970-01-01T00:00:00Z. */
export type UnixSeconds = number

const isoWithZone = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)$/
const wholeNumber = /^\d{1,15}$/

/** The largest number that is taken for Unix seconds, in the year 5138; a larger one is milliseconds. */
export const maxTimestamp = 99_999_999_999

/** Parses a timestamp as the protocol takes it anywhere: ISO 8601 with a zone, or Unix seconds.
 * Milliseconds are refused (docs/protocol/conventions.md, Times). */
export function parseTimestamp(input: unknown): UnixSeconds | undefined {
  if (typeof input === 'number') {
    return Number.isFinite(input) && input >= 0 && input < maxTimestamp + 1 ? Math.floor(input) : undefined
  }
  if (typeof input !== 'string') return undefined
  if (wholeNumber.test(input)) return parseTimestamp(Number(input))
  const parts = isoWithZone.exec(input)
  // Date.parse takes 30 February for 2 March.
  if (!parts || Number(parts[3]) > daysInMonth(Number(parts[1]), Number(parts[2]))) return undefined
  const ms = Date.parse(input)
  return Number.isNaN(ms) || ms < 0 ? undefined : Math.floor(ms / 1000)
}

function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}

// What `Date` can tell, in seconds.
const lastSecond = 8_640_000_000_000

/** A moment that no date reaches is told as the last one that does: one bad number must not spoil a whole answer. */
export function toIso(seconds: UnixSeconds): string {
  return new Date(Math.min(Math.max(seconds, -lastSecond), lastSecond) * 1000).toISOString()
}
