/** Seconds since 1970-01-01T00:00:00Z. */
export type UnixSeconds = number

const isoWithZone = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)$/
const wholeNumber = /^\d{1,15}$/
// Seconds will have eleven digits in the year 5138; a number this large is milliseconds.
const firstMilliseconds = 100_000_000_000

/** Parses a timestamp as the protocol takes it anywhere: ISO 8601 with a zone, or Unix seconds (SPEC
 * "Identifier and timestamp formats"). Milliseconds are refused. */
export function parseTimestamp(input: unknown): UnixSeconds | undefined {
  if (typeof input === 'number') {
    return Number.isFinite(input) && input >= 0 && input < firstMilliseconds ? Math.floor(input) : undefined
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

export function toIso(seconds: UnixSeconds): string {
  return new Date(seconds * 1000).toISOString()
}
