import type { IncomingMessage } from 'node:http'

/** Which pages of other origins may call the server: exact origins, or `*` for any (development). */
export type CorsOrigins = readonly string[] | '*'

type Headers = Readonly<Record<string, string>>

const exposed = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'ETag',
  'Content-Disposition',
  'Content-Range',
  'Accept-Ranges',
  'Location',
  'Upload-Offset',
  'Upload-Length',
  'Upload-Metadata',
  'Upload-Expires',
  'Tus-Resumable',
  'Tus-Version',
  'Tus-Extension',
  'Tus-Max-Size',
  'X-File-Id',
].join(', ')
const headerListForm = /^[\w\-!#$%&'*+.^`|~, ]{0,1024}$/

/** Makes the function that answers the CORS headers of an answer; undefined where no origin is allowed at all. */
export function createCors(origins: CorsOrigins): ((origin: string | undefined) => Headers) | undefined {
  if (origins.length === 0) return undefined
  const allowed = new Set(origins === '*' ? [] : origins)
  const refused = { vary: 'Origin' }
  return (origin) =>
    origin !== undefined && (origins === '*' || allowed.has(origin))
      ? {
          vary: 'Origin',
          'access-control-allow-origin': origin,
          'access-control-allow-credentials': 'true',
          'access-control-expose-headers': exposed,
        }
      : refused
}

/** The further headers of the answer to a preflight. An allowed origin may send any headers. */
export function preflightHeaders({ headers }: IncomingMessage): Headers {
  const asked = headers['access-control-request-headers'] ?? ''
  return {
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    ...(asked !== '' && headerListForm.test(asked) ? { 'access-control-allow-headers': asked } : {}),
    'access-control-max-age': '7200',
  }
}
