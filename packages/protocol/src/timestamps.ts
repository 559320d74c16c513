/** Seconds since 1970-01-01T00:00:00Z. */
export type UnixSeconds = number

const isoWithZone = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d(?::(\d\d)(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)$/
const wholeNumber = /^-?\d{1,15}$/

/** The largest number that is taken for Unix seconds, in the year 5138; a larger one is milliseconds. */
export const maxTimestamp = 99_999_999_999

/** The first second of the year 1 and the last of 9999: years of which databases and ISO 8601 tell alike. */
export const minWorldTime = -62_135_596_800
export const maxWorldTime = 253_402_300_799

/** Parses a timestamp as the protocol takes it anywhere: ISO 8601 with a zone, or Unix seconds, from 1970 on.
 * Milliseconds are refused (docs/protocol/conventions.md, Times). */
export function parseTimestamp(input: unknown): UnixSeconds | undefined {
  const seconds = parseWorldTime(input)
  return seconds === undefined || seconds < 0 ? undefined : seconds
}

/** The same for a moment of the world, such as when a picture was taken: from the year 1 to 9999. */
export function parseWorldTime(input: unknown): UnixSeconds | undefined {
  const seconds = secondsOf(input)
  return seconds !== undefined && seconds >= minWorldTime ? seconds : undefined
}

function secondsOf(input: unknown): UnixSeconds | undefined {
  if (typeof input === 'number')
    return Number.isFinite(input) && input < maxTimestamp + 1 ? Math.floor(input) : undefined
  if (typeof input !== 'string') return undefined
  if (wholeNumber.test(input)) return secondsOf(Number(input))
  // RFC 3339 takes `t` and `z` too.
  const text = input.toUpperCase()
  const parts = isoWithZone.exec(text)
  // Date.parse takes 30 February for 2 March.
  if (!parts || Number(parts[3]) > daysInMonth(Number(parts[1]), Number(parts[2]))) return undefined
  // A leap second, which Unix time counts as the second after it.
  const isLeap = parts[4] === '60'
  const ms = Date.parse(isLeap ? text.replace(/:60/, ':59') : text)
  const seconds = Math.floor(ms / 1000) + (isLeap ? 1 : 0)
  return seconds <= maxWorldTime ? seconds : undefined
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
