import ipaddr from 'ipaddr.js'
import { listOf } from './value-parsers.ts'
import { Problem } from './variable.ts'

/** A network in CIDR form with the bits of the host cleared; a bare address is a network of its own. */
export function network(text: string): string | Problem {
  const cidr = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`
  // The four-part form is checked on its own: the library also reads 10.1/16 and 0x0a.1.
  if (!text.includes(':') && !/^\d{1,3}(?:\.\d{1,3}){3}(?:\/|$)/.test(text)) return notANetwork()
  if (ipaddr.IPv4.isValidCIDR(cidr)) return `${ipaddr.IPv4.networkAddressFromCIDR(cidr)}/${prefixOf(cidr)}`
  if (ipaddr.IPv6.isValidCIDR(cidr)) return `${ipaddr.IPv6.networkAddressFromCIDR(cidr)}/${prefixOf(cidr)}`
  return notANetwork()
}

/** True, false, or the networks for which the rule is lifted. */
export function privateNetwork(text: string): boolean | readonly string[] | Problem {
  if (text === 'true' || text === 'false') return text === 'true'
  const networks = listOf(network)(text)
  return networks instanceof Problem ? new Problem('must be true, false or a list of networks') : networks
}

function prefixOf(cidr: string): number {
  return Number(cidr.slice(cidr.indexOf('/') + 1))
}

function notANetwork(): Problem {
  return new Problem('must be a list of addresses or networks like 10.0.0.0/8')
}
