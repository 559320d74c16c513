import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { Clock } from '#lib/clock.ts'

/** What a network may ask for over UDP, where the sender of a question may be forged, and again over TCP. */
export interface NetworkRate {
  readonly perSecond: number
  readonly burst: number
}

// A resolver of a large provider asks for thousands of users, and caches the answers for the TTL.
export const defaultNetworkRate: NetworkRate = { perSecond: 200, burst: 1000 }
// Above the rate every second question is answered with TC, the others not at all: TCP has no forged senders.
const slip = 2
// More than the connections of a network, so that those that end while they wait do not hold up the next ones for long.
const mostOwed = 50
// About 100 bytes each.
const maxNetworks = 50_000

export type RateVerdict = 'answer' | 'truncate' | 'drop'

interface Bucket {
  tokens: number
  atMs: number
  refused: number
}

/** Counts the questions of each network over UDP. */
export function openNetworkLimits(clock: Pick<Clock, 'now'>, rate: NetworkRate): (ip: string) => RateVerdict {
  return openLimits(openBuckets(clock, rate, networkOf))
}

/** Counts the questions of each sender over UDP who has proved its address: those that are sent in its name, or in that of
 * its neighbours, take nothing from it. */
export function openSenderLimits(clock: Pick<Clock, 'now'>, rate: NetworkRate): (ip: string) => RateVerdict {
  return openLimits(openBuckets(clock, rate, machineOf))
}

function openLimits(bucketOf: (ip: string) => Bucket): (ip: string) => RateVerdict {
  return (ip) => {
    const bucket = bucketOf(ip)
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1
      return 'answer'
    }
    bucket.refused += 1
    return bucket.refused % slip === 0 ? 'truncate' : 'drop'
  }
}

/** Counts the questions of each network over TCP; answers in how many milliseconds the time of the next one comes. */
export function openNetworkPace(clock: Pick<Clock, 'now'>, rate: NetworkRate): (ip: string) => number {
  const bucketOf = openBuckets(clock, rate, networkOf)
  return (ip) => {
    const bucket = bucketOf(ip)
    bucket.tokens = Math.max(bucket.tokens - 1, -mostOwed)
    return bucket.tokens >= 0 ? 0 : Math.ceil((-bucket.tokens * 1000) / rate.perSecond)
  }
}

function openBuckets(
  clock: Pick<Clock, 'now'>,
  { perSecond, burst }: NetworkRate,
  keyOf: (ip: string) => string,
): (ip: string) => Bucket {
  const buckets = new LRUCache<string, Bucket>({ max: maxNetworks })
  return (ip) => {
    const key = keyOf(ip)
    const now = clock.now()
    const bucket = buckets.get(key) ?? { tokens: burst, atMs: now, refused: 0 }
    const gained = (Math.max(0, now - bucket.atMs) * perSecond) / 1000
    bucket.tokens = Math.min(burst, bucket.tokens + gained)
    bucket.atMs = now
    buckets.set(key, bucket)
    return bucket
  }
}

/** The /24 or /56 of an address: what one customer can send from. */
export function networkOf(ip: string): string {
  return prefixOf(ip, { ipv4: 3, ipv6: 7 })
}

/** The address, or its /64: one machine has as many of these as it likes. */
export function machineOf(ip: string): string {
  return prefixOf(ip, { ipv4: 4, ipv6: 8 })
}

/** The address in one spelling: sockets for both kinds give IPv4 as a part of IPv6. */
export function addressOf(ip: string): string {
  return prefixOf(ip, { ipv4: 4, ipv6: 16 })
}

function prefixOf(ip: string, bytes: { readonly ipv4: number; readonly ipv6: number }): string {
  const [plain = ''] = ip.split('%')
  if (!ipaddr.isValid(plain)) return ip
  const address = ipaddr.process(plain)
  return address.toByteArray().slice(0, bytes[address.kind()]).join('.')
}

/** Is the address in one of the networks (CIDR, or addresses alone)? */
export function isWithin(ip: string, networks: readonly string[]): boolean {
  const [plain = ''] = ip.split('%')
  if (!ipaddr.isValid(plain)) return false
  const address = ipaddr.process(plain)
  return networks.some((network) => {
    const cidr = network.includes('/') ? network : `${network}/${network.includes(':') ? 128 : 32}`
    if (!ipaddr.isValidCIDR(cidr)) return false
    const [base, bits] = ipaddr.parseCIDR(cidr)
    return base.kind() === address.kind() && address.match(base, bits)
  })
}
