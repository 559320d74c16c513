import { isIP } from 'node:net'
import { isBlockedPort } from './blocked-ports.ts'
import { EgressError } from './egress.ts'
import { isInRanges, specialPurposeOf } from './special-addresses.ts'

/** Which addresses beyond the public ones may be reached: all, those in some ranges (CIDR), or none. Plain http may be
 * spoken unless it is `false`. */
export type PrivateNetworks = boolean | readonly string[]

export interface NetworkPolicy {
  readonly allowsPlainHttp: boolean
  /** Why the address may not be reached; undefined when it may. */
  refusalOf(address: string): string | undefined
}

const maxUrlLength = 4096

export function networkPolicy(allowed: PrivateNetworks): NetworkPolicy {
  return {
    allowsPlainHttp: allowed !== false,
    refusalOf(address) {
      if (allowed === true || (allowed !== false && isInRanges(address, allowed))) return undefined
      return specialPurposeOf(address)
    },
  }
}

/** Parses an address that the server is asked to call, and refuses what is wrong whatever the DNS says. */
export function checkedUrl(text: string, policy: NetworkPolicy): URL {
  const url = text.length <= maxUrlLength && URL.canParse(text) ? new URL(text) : undefined
  if (!url) throw refusal('not a URL')
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && policy.allowsPlainHttp)) {
    throw refusal(`the scheme ${url.protocol} is not used`)
  }
  if (url.username !== '' || url.password !== '') throw refusal('a URL must not carry credentials')
  if (url.port !== '' && isBlockedPort(Number(url.port)))
    throw refusal(`port ${url.port} is not used for HTTP`)
  const host = hostOf(url)
  // The root label would make a second name for one host, in caches and in limits.
  if (host.endsWith('.')) throw refusal('the host name ends in a dot')
  if (isIP(host) !== 0) assertAllowed(host, host, policy)
  url.hash = ''
  return url
}

/** The host name, or the address without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

export function assertAllowed(address: string, host: string, policy: NetworkPolicy): void {
  const reason = policy.refusalOf(address)
  if (reason === undefined) return
  // The message may reach a client, the cause only the log: addresses inside this network are not told.
  throw refusal(`${host} is not a public host`, new Error(`${address} is refused: ${reason}`))
}

function refusal(message: string, cause?: Error): EgressError {
  return new EgressError('refused', message, { cause })
}
