import ipaddr from 'ipaddr.js'

/** The IANA IPv4 and IPv6 Special-Purpose Address Registries with multicast and deprecated ranges added. Everything
 * here is refused, also what a registry calls globally reachable: no server of a person lives there.
 * NOTE: forms that carry an IPv4 address (mapped, translated, NAT64, 6to4, Teredo) are refused whole, so that what
 * they carry needs no look. */
export const specialRanges: readonly (readonly [cidr: string, purpose: string])[] = [
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private use'],
  ['100.64.0.0/10', 'shared address space'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private use'],
  ['192.0.0.0/24', 'IETF protocol assignments'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'AS112'],
  ['192.52.193.0/24', 'AMT'],
  ['192.88.99.0/24', '6to4 relay anycast'],
  ['192.168.0.0/16', 'private use'],
  ['192.175.48.0/24', 'AS112'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
  ['255.255.255.255/32', 'limited broadcast'],
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['::/96', 'IPv4-compatible'],
  ['::ffff:0:0/96', 'IPv4-mapped'],
  ['::ffff:0:0:0/96', 'IPv4-translated'],
  ['64:ff9b::/96', 'IPv4-IPv6 translation'],
  ['64:ff9b:1::/48', 'IPv4-IPv6 translation'],
  ['100::/64', 'discard-only'],
  ['100:0:0:1::/64', 'dummy prefix'],
  ['2001::/32', 'Teredo'],
  ['2001:2::/48', 'benchmarking'],
  ['2001:3::/32', 'AMT'],
  ['2001:4:112::/48', 'AS112'],
  ['2001:10::/28', 'ORCHID'],
  ['2001:20::/28', 'ORCHIDv2'],
  ['2001:30::/28', 'drone remote identification'],
  ['2001::/23', 'IETF protocol assignments'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'AS112'],
  ['3fff::/20', 'documentation'],
  ['5f00::/16', 'segment routing'],
  ['fc00::/7', 'unique local'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'site-local'],
  ['ff00::/8', 'multicast'],
]

const ranges = specialRanges.map(([cidr, purpose]) => ({ purpose, range: ipaddr.parseCIDR(cidr) }))
// IANA has given out global unicast addresses from this block alone.
const globalUnicast = ipaddr.parseCIDR('2000::/3')

/** What kind of special address this is, or undefined for a public unicast address. Text that is no address in the
 * standard notation counts as special. */
export function specialPurposeOf(address: string): string | undefined {
  const parsed = parse(address)
  if (!parsed) return 'not an address'
  const match = ranges.find(({ range }) => isIn(parsed, range))
  if (match) return match.purpose
  return parsed.kind() === 'ipv6' && !isIn(parsed, globalUnicast) ? 'not allocated' : undefined
}

/** Is the address in one of the ranges (CIDR notation)? */
export function isInRanges(address: string, cidrs: readonly string[]): boolean {
  const parsed = parse(address)
  return parsed !== undefined && cidrs.some((cidr) => isIn(parsed, ipaddr.parseCIDR(cidr)))
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

function parse(address: string): Address | undefined {
  // The library also takes `127.1` and `0x7f000001`, which no resolver answers.
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return undefined
  return ipaddr.parse(address)
}

function isIn(address: Address, range: [Address, number]): boolean {
  return address.kind() === range[0].kind() && address.match(range)
}
