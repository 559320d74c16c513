import type { WholeAnswer } from './answer.ts'
import type { RawVisit } from './raw-route.ts'

/** Sends a request that came without TLS to the same address with it; `port` is the one that the world reaches. */
export function redirectToHttps({ request, peer }: RawVisit, port: string): WholeAnswer {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
  if (peer.host === undefined) return { status: 400, headers, body: '400 Bad Request\n' }
  const url = request.url?.startsWith('/') ? request.url : '/'
  const location = `https://${peer.host}${port === '' ? '' : `:${port}`}${url}`
  return { status: 308, headers: { ...headers, location }, body: '308 Permanent Redirect\n' }
}
