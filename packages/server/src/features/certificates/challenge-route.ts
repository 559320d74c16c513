import type { RawRoute } from '#infra/http/index.ts'

const headers = { 'content-type': 'application/octet-stream', 'cache-control': 'no-store' }
const tokenForm = /^[A-Za-z0-9_-]{16,256}$/

/** What an authority asks for that wants to see that a name leads here (RFC 8555 section 8.3): on every host, and nothing but
 * what belongs to a token of an order under way. */
export function challengeRoute(deps: { answer(token: string): Promise<string | undefined> }): RawRoute {
  return {
    method: 'GET',
    path: '/.well-known/acme-challenge/{token}',
    async handle({ params: { token } }) {
      const isToken = typeof token === 'string' && tokenForm.test(token)
      const body = isToken ? await deps.answer(token) : undefined
      return body === undefined ? { status: 404, headers, body: '' } : { status: 200, headers, body }
    },
  }
}
