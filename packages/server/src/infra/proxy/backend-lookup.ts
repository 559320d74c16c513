import { type LookupAddress, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

const refusedRanges = new Set(['linkLocal', 'multicast', 'broadcast', 'unspecified', 'reserved'])

/** Whether a backend may have this address: private ones are what backends have, those where clouds keep their metadata
 * (link-local) and groups of machines are not. */
export function isBackendAddress(address: string): boolean {
  return ipaddr.isValid(address) && !refusedRanges.has(ipaddr.process(address).range())
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
