import type { Contract } from '@kith/protocol'
import type { Exchange } from './exchange.ts'
import type { Peer } from './peer.ts'
import type { RawVisit } from './raw-route.ts'

/** What the one cookie of this server is called: over TLS, and on a loopback name without it. No backend behind this server
 * is shown it or may set it. `__Host-`: set by this host alone, for this host alone (RFC 6265bis section 4.1.3.2). */
export const browserCookieNames = { secure: '__Host-kith', plain: 'kith' } as const

/** A request as far as it concerns the cookies of a browser. */
export interface BrowserRequest {
  /** Not over TLS, and to a loopback name: there some browsers keep no cookie that is marked `Secure`. */
  readonly isPlainLoopback: boolean
  /** The header, where the contract takes a cookie and the request was made by a script of a page of the same origin; other
   * tenants below one domain are the same *site* to a browser. */
  readonly cookie: string | undefined
}

/** Undefined where the contract has nothing to do with cookies. */
export function browserRequestOf(
  { browserCookie }: Pick<Contract, 'browserCookie'>,
  { request: { headers }, peer }: Exchange,
): BrowserRequest | undefined {
  if (browserCookie === undefined) return undefined
  const isOwnScript = headers['sec-fetch-site'] === 'same-origin' && headers['x-kith-browser'] === '1'
  return {
    isPlainLoopback: isPlainLoopback(peer),
    cookie: browserCookie === 'used' && isOwnScript ? headers.cookie : undefined,
  }
}

/** Whether a browser that stays signed in asks. What the cookie says is not looked at: it may have ended. */
export function hasBrowserCookie({ request, peer }: Pick<RawVisit, 'request' | 'peer'>): boolean {
  const name = browserCookieNames[isPlainLoopback(peer) ? 'plain' : 'secure']
  return (request.headers.cookie ?? '').split(';').some((pair) => pair.split('=')[0]?.trim() === name)
}

function isPlainLoopback({ isSecure, host = '' }: Peer): boolean {
  return !isSecure && isLoopback(host)
}

function isLoopback(host: string): boolean {
  return /^(?:.+\.)?localhost$|^127\.\d+\.\d+\.\d+$|^\[::1\]$/.test(host)
}
