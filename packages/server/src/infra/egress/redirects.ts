import { EgressError, type EgressRequest } from './egress.ts'
import { checkedUrl, type NetworkPolicy } from './network-policy.ts'

/** One request of a chain of redirects. */
export interface Hop {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
}

const maxRedirects = 3
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
// Not passed on to another origin than the caller named.
const credentialHeaders: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization'])

export function isRedirect(status: number): boolean {
  return redirectStatuses.has(status)
}

/** Where a redirect leads, after the same checks as the first address. */
export function nextHop(
  from: Hop,
  answer: {
    readonly method: EgressRequest['method']
    readonly location: string | undefined
    readonly redirects: number
  },
  policy: NetworkPolicy,
): Hop {
  if (answer.method !== 'GET' && answer.method !== 'HEAD')
    throw notFollowed(`a ${answer.method} is not redirected`)
  if (answer.redirects >= maxRedirects) throw notFollowed(`more than ${maxRedirects} redirects`)
  if (answer.location === undefined || !URL.canParse(answer.location, from.url)) {
    throw notFollowed('a redirect without an address')
  }
  const url = checkedUrl(new URL(answer.location, from.url).href, policy)
  if (from.url.protocol === 'https:' && url.protocol !== 'https:') {
    throw new EgressError('refused', 'a redirect from https to http')
  }
  return { url, headers: url.origin === from.url.origin ? from.headers : withoutCredentials(from.headers) }
}

function withoutCredentials(headers: Hop['headers']): Hop['headers'] {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !credentialHeaders.has(name.toLowerCase())),
  )
}

function notFollowed(message: string): EgressError {
  return new EgressError('redirect', message)
}
