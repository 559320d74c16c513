import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'

/** Who is at the other end of a connection, and which host it asked for. */
export interface Peer {
  readonly ip: string
  /** In lower case, without port and trailing dot; undefined when none was named. */
  readonly host: string | undefined
  readonly isSecure: boolean
}

/** Reads the peer of a request. */
export type PeerReader = (request: IncomingMessage) => Peer

const maxVerdicts = 1000

/** Makes what reads the peer of a request. `X-Forwarded-*` headers count only when the connection comes from one of the trusted
 * networks (CIDR), and then by the hop nearest to us that is not one of them. */
export function createPeerReader(trustedProxies: readonly string[]): PeerReader {
  const isTrusted = createTrust(trustedProxies)
  return (request) => {
    const ip = plainAddress(request.socket.remoteAddress ?? '')
    const isEncrypted = 'encrypted' in request.socket
    if (!isTrusted(ip)) return { ip, host: hostOf(request.headers.host), isSecure: isEncrypted }
    const { headers } = request
    const forwardedHost = lastOf(headers['x-forwarded-host'])
    const forwardedProto = lastOf(headers['x-forwarded-proto'])
    return {
      ip: nearestStranger(listOf(headers['x-forwarded-for']), ip, isTrusted),
      host: forwardedHost === undefined ? hostOf(headers.host) : forwardedHostOf(forwardedHost),
      isSecure: forwardedProto === undefined ? isEncrypted : forwardedProto.toLowerCase() === 'https',
    }
  }
}

/** A proxy may pass on what a client has written. */
function forwardedHostOf(text: string): string | undefined {
  return isHost(text) ? hostOf(text) : undefined
}

/** Tells whether an address is one of the trusted proxies'. */
export function createTrust(trustedProxies: readonly string[]): (ip: string) => boolean {
  if (trustedProxies.length === 0) return () => false
  const trusted = new BlockList()
  for (const network of trustedProxies) {
    const [address = '', prefix] = network.split('/')
    const family = familyOf(address)
    trusted.addSubnet(address, Number(prefix ?? (family === 'ipv4' ? 32 : 128)), family)
  }
  // Behind a proxy every request asks for the same few addresses.
  const verdicts = new LRUCache<string, boolean>({
    max: maxVerdicts,
    memoMethod: (ip) => ip !== '' && trusted.check(ip, familyOf(ip)),
  })
  return (ip) => verdicts.memo(ip)
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

/** An IPv4 address in IPv6 clothing is the IPv4 address. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}

function nearestStranger(hops: readonly string[], peer: string, isTrusted: (ip: string) => boolean): string {
  let nearest = peer
  for (const hop of hops.toReversed()) {
    const address = plainAddress(hop.replace(/^\[([^\]]*)\](?::\d+)?$|^([^:]+):\d+$/, '$1$2'))
    if (isIP(address) === 0) return nearest
    nearest = address
    if (!isTrusted(address)) return nearest
  }
  return nearest
}

function listOf(header: string | string[] | undefined): string[] {
  if (header === undefined) return []
  return String(header)
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function lastOf(header: string | string[] | undefined): string | undefined {
  return listOf(header).at(-1)
}

const longestHost = 260
const hostForm = /^(?:\[[0-9a-f:.]{2,45}\]|[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?)(?::\d{0,5})?$/i

/** Whether a text is a host name or an address, perhaps with a port. */
export function isHost(text: string): boolean {
  return text.length <= longestHost && hostForm.test(text)
}

/** The host of a `Host` header in the form in which tenants are looked up. */
export function hostOf(header: string | undefined): string | undefined {
  if (header === undefined || header === '' || header.length > longestHost) return undefined
  const name = header.replace(/:\d*$/, '')
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase()
}

/** What an address counts as where requests are limited: IPv6 by its /64, which one customer has for himself. */
export function rateKeyOf(ip: string): string {
  if (!ip.includes(':')) return ip
  const [withoutZone = ''] = ip.split('%')
  return ipaddr.IPv6.isValid(withoutZone)
    ? `${ipaddr.IPv6.parse(withoutZone)
        .parts.slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')}::`
    : ip
}
