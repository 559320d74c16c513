// Shorter delays, of an overloaded server or by a wrong clock, are replaced by the usual ones.
const shortestPutOffMs = 10_000

/** `Retry-After` (RFC 9110 section 10.2.3) as Unix milliseconds: whole seconds from now, or a date as servers have to write
 * it. Undefined when it says neither, or less than ten seconds. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined
  const atMs = /^\d{1,9}$/.test(header) ? nowMs + Number(header) * 1000 : dateMs(header)
  return atMs === undefined || atMs < nowMs + shortestPutOffMs ? undefined : atMs
}

/** NOTE: `Date.parse` finds a date in nearly everything: it takes 3600.5 for the year 3600. */
function dateMs(text: string): number | undefined {
  const date = new Date(text)
  return date.toUTCString() === text && !Number.isNaN(date.getTime()) ? date.getTime() : undefined
}
