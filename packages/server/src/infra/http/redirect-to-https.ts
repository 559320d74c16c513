import type { WholeAnswer } from './answer.ts'
import type { RawVisit } from './raw-route.ts'

const viaPlainProxy =
  'The proxy in front of this server must reach it over https, or the server be set to TLS=off.'

/** Sends a request that came without TLS to the same address with it; `port` is the one that the world reaches. */
export function redirectToHttps({ request, peer }: RawVisit, port: string): WholeAnswer {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
  // A trusted proxy has ended TLS and would be sent to itself for ever.
  if (peer.isSecure) return { status: 421, headers, body: `421 Misdirected Request\n${viaPlainProxy}\n` }
  if (peer.host === undefined) return { status: 400, headers, body: '400 Bad Request\n' }
  const url = request.url?.startsWith('/') ? request.url : '/'
  const location = `https://${peer.host}${port === '' ? '' : `:${port}`}${url}`
  return { status: 308, headers: { ...headers, location }, body: '308 Permanent Redirect\n' }
}
