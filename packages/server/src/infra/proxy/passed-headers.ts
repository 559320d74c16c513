import type { IncomingMessage } from 'node:http'
import { browserCookieNames, type Peer } from '#infra/http/index.ts'
import { type Backend, headerKey } from './backend.ts'

/** Names and values in turn, as Node and undici take them. */
type FlatHeaders = string[]

// RFC 9110 section 7.6.1, and headers that older clients still send.
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]
const notPassedOn = new Set([
  ...hopByHop,
  'http2-settings',
  'expect',
  'host',
  'via',
  'forwarded',
  'x-real-ip',
])
const notPassedBack = new Set(hopByHop)
// End-to-end headers, which a client must not remove by listing them in `Connection`.
const neverListed = new Set(['authorization', 'content-length', 'content-type', 'cookie', 'host'])

/** Whether a header may be set by the one who configures a backend: not those that the proxy itself decides about. */
export function isSettableHeader(name: string): boolean {
  const key = headerKey(name)
  return !notPassedOn.has(key) && !isForwarding(key) && key !== 'content-length'
}

/** The headers of a request for the backend. The headers about the visitor (`Forwarded` and the like) are made by this
 * server alone. */
export function requestHeaders(
  request: IncomingMessage,
  { peer, via, backend }: { readonly peer: Peer; readonly via: string; readonly backend: Backend },
): FlatHeaders {
  const { rawHeaders, headers } = request
  const listed = listedIn(headers.connection)
  const own = backend.requestHeaders
  const passed: FlatHeaders = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    const key = headerKey(name)
    if (notPassedOn.has(key) || isForwarding(key) || listed?.has(key) || own.has(key)) continue
    // CGI programs read it as the same variable as Content-Length.
    if (key === 'content-length' && name.includes('_')) continue
    const value = rawHeaders[at + 1] as string
    const shown = key === 'cookie' ? foreignCookies(value) : value
    if (shown !== undefined) passed.push(name, shown)
  }
  const host = visitedHost(headers.host, peer)
  passed.push('Host', backend.preservesHost ? host : backend.origin.replace(/^https?:\/\//, ''))
  passed.push('X-Forwarded-For', peer.ip)
  passed.push('X-Forwarded-Proto', peer.isSecure ? 'https' : 'http')
  passed.push('X-Forwarded-Host', host)
  passed.push('Via', via)
  for (const header of own.values()) passed.push(...header)
  return passed
}

/** Headers as the client library has them, read. */
export function textsOf(raw: readonly (string | Buffer)[]): FlatHeaders {
  return raw.map((part) => (typeof part === 'string' ? part : part.toString('latin1')))
}

/** The headers of an answer for the visitor. */
export function responseHeaders(
  texts: Readonly<FlatHeaders>,
  { responseHeaders: own }: Pick<Backend, 'responseHeaders'>,
): FlatHeaders {
  const listed = listedIn(connectionOf(texts))
  const passed: FlatHeaders = []
  for (let at = 0; at < texts.length; at += 2) {
    const name = texts[at] as string
    const key = headerKey(name)
    if (notPassedBack.has(key) || listed?.has(key) || own.has(key)) continue
    const value = texts[at + 1] as string
    if (key === 'set-cookie' && isOwnCookie(value)) continue
    passed.push(name, value)
  }
  for (const header of own.values()) passed.push(...header)
  return passed
}

// What decides how a message is read or who may read it has to come before it (RFC 9110 section 6.5.1).
const neverTrailing = new Set([
  ...hopByHop,
  'authorization',
  'cache-control',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'host',
  'location',
  'set-cookie',
])

/** The headers after the body of an answer, by name. */
export function passedTrailers(texts: Readonly<FlatHeaders>): Record<string, string> {
  const passed: Record<string, string> = {}
  for (let at = 0; at < texts.length; at += 2) {
    const name = (texts[at] as string).toLowerCase()
    if (neverTrailing.has(name)) continue
    const value = texts[at + 1] as string
    passed[name] = Object.hasOwn(passed, name) ? `${passed[name]}, ${value}` : value
  }
  return passed
}

/** Whether the body of an answer is what its headers say without another coding around it: no request asked for one. */
export function isPlainlyFramed(texts: Readonly<FlatHeaders>): boolean {
  return texts.every(
    (text, at) =>
      at % 2 === 1 ||
      text.toLowerCase() !== 'transfer-encoding' ||
      texts[at + 1]?.trim().toLowerCase() === 'chunked',
  )
}

const ownCookies: ReadonlySet<string> = new Set(
  Object.values(browserCookieNames).map((name) => name.toLowerCase()),
)

/** Whether a pair of a `Cookie` header, or a `Set-Cookie` header, is about the cookie of this server. */
function isOwnCookie(pair: string): boolean {
  // One without a name comes back as what stands behind its first `=`.
  const [name = ''] = pair.replace(/^[\s=]+/, '').split('=', 1)
  return ownCookies.has(name.trim().toLowerCase())
}

/** What is left of a `Cookie` header for a backend. */
function foreignCookies(header: string): string | undefined {
  if (!/kith/i.test(header)) return header
  const pairs = header.split(';').filter((pair) => !isOwnCookie(pair))
  return pairs.length === 0 ? undefined : pairs.join(';').trim()
}

function isForwarding(key: string): boolean {
  return key.startsWith('x-forwarded-')
}

/** The headers that `Connection` lists beside the usual ones. */
function listedIn(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return undefined
  const names = connection.split(',').map((name) => headerKey(name.trim()))
  return new Set(names.filter((name) => !neverListed.has(name)))
}

function connectionOf(texts: readonly string[]): string | undefined {
  const values = texts.filter((_, at) => at % 2 === 1 && texts[at - 1]?.toLowerCase() === 'connection')
  return values.length === 0 ? undefined : values.join(',')
}

/** With its port, where the visitor named one and no trusted proxy another host. */
function visitedHost(header: string | undefined, { host = '' }: Peer): string {
  const text = header?.toLowerCase() ?? ''
  const named = text.replace(/:\d*$/, '').replace(/\.$/, '')
  return named === host ? text : host
}
