import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { ListenAddress } from './sockets.ts'

type Kind = 'ipv4' | 'ipv6'

/** Those of a server's addresses, and its names, that are of a kind that is listened on; all where none is. Behind NAT others are
 * listened on than are public, so that only the kinds can be compared. */
export function addressesThatAnswer(
  addresses: readonly string[],
  listen: readonly ListenAddress[],
): readonly string[] {
  const kinds = new Set<string>(listen.flatMap(({ host }) => kindsOf(host)))
  const isAnswered = (address: string) => kinds.has(ipaddr.process(address).kind())
  if (!addresses.some((address) => isIP(address) !== 0 && isAnswered(address))) return addresses
  return addresses.filter((address) => isIP(address) === 0 || isAnswered(address))
}

function kindsOf(host: string): Kind[] {
  if (host === 'localhost') return ['ipv4', 'ipv6']
  const address = ipaddr.process(host)
  return address.toString() === '::' ? ['ipv4', 'ipv6'] : [address.kind()]
}
