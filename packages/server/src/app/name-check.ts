import type { DomainBlocks } from '#features/federation/index.ts'
import { isProvided } from '#features/idp/index.ts'
import { isProxied } from '#features/proxy/index.ts'
import { type NameCheck, openNameCheck, type RemoteProviders } from '#features/registration/index.ts'
import { allowsPlainHttp } from '#infra/config/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import type { Addresses } from './addresses.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'

/** The names that people can have on this server, by its configuration and settings. */
export function openNames(
  { db, clock, dns, config }: Pick<Services, 'db' | 'clock' | 'dns' | 'config'>,
  { tenants, settings }: Pick<IdentityFeatures, 'tenants' | 'settings'>,
  parts: {
    readonly addresses: Addresses
    readonly domainBlocks: DomainBlocks
    readonly providers: RemoteProviders
  },
): NameCheck {
  const { addresses, domainBlocks, providers } = parts
  const { baseIdTag, publicUrl, federation } = config
  const { discoveryName, identityHosts, localAddresses } = federation
  return openNameCheck({
    db,
    clock,
    dns,
    tenants,
    providers,
    baseIdTag,
    discoveryName,
    identityHosts,
    localAddresses,
    servesEveryTenant: publicUrl.servesEveryTenant,
    allowPlainHttp: allowsPlainHttp(config),
    serverUrls: (idTag) => [addresses.serverUrl(idTag), addresses.serverUrl(baseIdTag)],
    findReservedNames: () => settings.find(serverTenant, 'idp.reserved_names'),
    isProvided: (names) => isProvided({ clock }, db.reader(serverTenant), names),
    isProxied: (name) => isProxied(db.reader(serverTenant), name),
    isBlockedDomain: (name) => domainBlocks.isBlocked(name),
  })
}
