import type { IncomingHttpHeaders } from 'node:http'

/** The bearer that a request presents, if any: the header, or else `queryToken`. Other schemes in the header are not ours
 * and are left alone. */
export function bearerOf({ authorization }: IncomingHttpHeaders, queryToken: unknown): string | undefined {
  const match = authorization === undefined ? undefined : /^bearer(?: +(\S*))? *$/i.exec(authorization)
  if (match) return match[1] ?? ''
  return typeof queryToken === 'string' ? queryToken : undefined
}
