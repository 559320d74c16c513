import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { isBackendAddress } from '#infra/proxy/index.ts'
import { invalid } from '#lib/failure.ts'
import type { OwnPlaces } from './own-places.ts'

const path = '/backendUrl'
// Names within a machine or a cluster may have `_`.
const hostForm = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/

/** The origin that a backend's URL names. Fails with `E-VALIDATION` when it names more, what no backend has, or this
 * server; names that only lead here are found when requests come back (docs/operations/proxy-sites.md, Loops). */
export async function parseBackendUrl(text: string, own: OwnPlaces): Promise<string> {
  const url = URL.parse(text)
  if (!url || !/^https?:\/\//i.test(text)) throw invalid(path, 'must be an http or https URL')
  if (url.username !== '' || url.password !== '') throw invalid(path, 'must not name a user')
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw invalid(path, 'must end with the host and the port')
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (isIP(host) === 0 && !hostForm.test(host)) throw invalid(path, 'must name a host')
  if (url.port === '0') throw invalid(path, 'must name a port that can be asked')
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  if (isIP(host) !== 0) assertAddress(host, port, own)
  else if (isLocalhost(host) ? own.listeningPorts().includes(port) : await own.isOwnName(host))
    throw invalid(path, 'is this server itself')
  return url.origin
}

const isLocalhost = (host: string) => host === 'localhost' || host.endsWith('.localhost')

function assertAddress(host: string, port: number, own: OwnPlaces): void {
  const address = ipaddr.process(host)
  // Connections to it go to this machine.
  const isUnspecified = address.range() === 'unspecified'
  const isOwn =
    isUnspecified ||
    address.range() === 'loopback' ||
    own.listAddresses().some((other) => isSame(other, host))
  if (isOwn && own.listeningPorts().includes(port)) throw invalid(path, 'is this server itself')
  if (!isBackendAddress(host)) throw invalid(path, 'is an address that no backend has')
}

function isSame(one: string, other: string): boolean {
  if (!ipaddr.isValid(one)) return false
  return ipaddr.process(one).toString() === ipaddr.process(other).toString()
}
