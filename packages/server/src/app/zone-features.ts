import { openProvider, openZones, type ProviderZones } from '#features/idp/index.ts'
import { addressesThatAnswer } from '#infra/dns-server/index.ts'
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
    nameServerAddresses: addressesThatAnswer(federation.localAddresses, federation.dnsListen),
    // The word of the network first: both lead to the same server.
    discoveryNames: [...new Set([federation.discoveryName, 'service'])],
    serverUrlOf: (idTag) => addresses.findServerUrl(idTag),
  })
}
