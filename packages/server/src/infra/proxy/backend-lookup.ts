import { type LookupAddress, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

const refusedRanges = new Set(['linkLocal', 'multicast', 'broadcast', 'unspecified', 'reserved'])

// Where clouds answer their machines with keys and secrets, besides the link-local addresses.
const metadataAddresses = new Set([
  '100.100.100.200', // Alibaba
  '168.63.129.16', // Azure
  'fd00:ec2::254', // AWS
  'fd00:42::42', // Scaleway
  'fd20:ce::254', // Google
])

/** Whether a backend may have this address: private ones are what backends have, those where clouds keep their metadata and
 * groups of machines are not. */
export function isBackendAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  const inner = embeddedIn(address)
  if (inner !== undefined) return isBackendAddress(inner)
  return !refusedRanges.has(address.range()) && !metadataAddresses.has(address.toString())
}

// Networks of IPv6 whose addresses lead to one of IPv4, and the byte at which that begins.
const embedding = (
  [
    ['64:ff9b::/96', 12], // NAT64
    ['64:ff9b:1::/48', 12], // NAT64 of one's own
    ['::ffff:0:0:0/96', 12], // translated
    ['::/96', 12], // compatible
    ['2002::/16', 2], // 6to4
  ] as const
).map(([network, from]) => ({ network: ipaddr.IPv6.parseCIDR(network), from }))

function embeddedIn(address: ipaddr.IPv4 | ipaddr.IPv6): string | undefined {
  if (!(address instanceof ipaddr.IPv6) || address.range() === 'loopback') return undefined
  const found = embedding.find(({ network }) => address.match(network))
  return (
    found &&
    address
      .toByteArray()
      .slice(found.from, found.from + 4)
      .join('.')
  )
}

/** For `net.connect`: the system's look-up, hosts file included, without the addresses that no backend has. */
export const lookupBackend: LookupFunction = (host, options, callback) => {
  lookup(host, { ...options, all: true }, (error, found: LookupAddress[]) => {
    const [first] = found ?? []
    if (error || !first) callback(error, [])
    else if (!found.every(({ address }) => isBackendAddress(address)))
      callback(new Error(`${host} has an address that no backend may have`), [])
    else if (options.all) callback(null, found)
    else callback(null, first.address, first.family)
  })
}
