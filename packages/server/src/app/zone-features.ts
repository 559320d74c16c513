import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { openProvider, openZones, type ProviderZones } from '#features/idp/index.ts'
import type { Config } from '#infra/config/index.ts'
import type { Addresses } from './addresses.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'

/** What the DNS says of the names that tenants of this server give. */
export function openProviderZones(
  { db, clock, config, nodeBus }: Services,
  { settings, tenants }: Pick<IdentityFeatures, 'settings' | 'tenants'>,
  addresses: Addresses,
): ProviderZones {
  const { federation } = config
  return openZones({
    db,
    clock,
    nodeBus,
    settings,
    tenants,
    isProvider: openProvider({ db, clock, tenants, settings }).isProvider,
    ownAddresses: federation.localAddresses,
    nameServerAddresses: addressesThatAnswer(federation),
    // The word of the network first: both lead to the same server.
    discoveryNames: [...new Set([federation.discoveryName, 'service'])],
    serverUrlOf: (idTag) => addresses.findServerUrl(idTag),
  })
}

/** Those of the server's addresses that are of a kind that is listened on. Behind NAT others are listened on than are public. */
export function addressesThatAnswer({
  dnsListen,
  localAddresses,
}: Pick<Config['federation'], 'dnsListen' | 'localAddresses'>): readonly string[] {
  const kinds = new Set(dnsListen.flatMap(({ host }) => kindsOf(host)))
  const isAnswered = (address: string) => kinds.has(ipaddr.process(address).kind())
  const addresses = localAddresses.filter((address) => isIP(address) !== 0)
  if (!addresses.some(isAnswered)) return localAddresses
  return localAddresses.filter((address) => isIP(address) === 0 || isAnswered(address))
}

function kindsOf(host: string): ('ipv4' | 'ipv6')[] {
  if (host === 'localhost') return ['ipv4', 'ipv6']
  const address = ipaddr.process(host)
  return address.toString() === '::' ? ['ipv4', 'ipv6'] : [address.kind()]
}
