// Shorter delays, of an overloaded server or by a wrong clock, are replaced by the usual ones.
const shortestPutOffMs = 10_000

/** `Retry-After` (RFC 9110 section 10.2.3) as Unix milliseconds: seconds from now, or a date. Undefined when it says
 * nothing, or less than ten seconds. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined
  const atMs = /^\d{1,9}$/.test(header) ? nowMs + Number(header) * 1000 : Date.parse(header)
  return Number.isNaN(atMs) || atMs < nowMs + shortestPutOffMs ? undefined : atMs
}
