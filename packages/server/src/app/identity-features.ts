import {
  Authenticator,
  createPasswordHasher,
  followInvalidations,
  LastUse,
  proxyTokenMinter,
} from '#features/accounts/index.ts'
import {
  type DomainBlocks,
  findIdentityKey,
  type Identities,
  localIdentities,
  openIdentities,
  withoutBlocked,
} from '#features/federation/index.ts'
import { assertNotManaged } from '#features/idp/index.ts'
import { createOwnProfile, findShownProfile } from '#features/profiles/index.ts'
import { isProxied } from '#features/proxy/index.ts'
import { openSettings } from '#features/settings/index.ts'
import { openTenants, type Tenants } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { allowsPlainHttp } from '#infra/config/index.ts'
import type { TenantId, Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import type { Addresses } from './addresses.ts'
import type { AppEvent } from './reactions.ts'
import { assertCanBeServed } from './served-tenants.ts'
import type { Services } from './services.ts'
import { diskReserveOf, lifetimesOf } from './settings-ports.ts'

/** The channel on which processes tell each other which cached values to drop. */
export const invalidationChannel = 'forgotten'

type OwnProfile = Parameters<typeof createOwnProfile>[2]

interface IdentityParts {
  readonly addresses: Addresses
  readonly domainBlocks: DomainBlocks
  readonly emit: Emit<AppEvent>
}

/** The tenants of this server, remote identities, and the authentication of bearers. */
export function openIdentityFeatures(services: Services, { addresses, domainBlocks, emit }: IdentityParts) {
  const { db, clock, config, logger, vault, passwordCost, signatures, signingKeys, tokenSecrets } = services
  const settings = openSettings({ db, clock, vault })
  services.diskReserve.follow(() => diskReserveOf(settings))
  const tenants = openTenants({ db, clock })
  const identities = openIdentityCache(services, { addresses, domainBlocks, emit, tenants })
  const lastUse = new LastUse(db, clock)
  const authenticator = new Authenticator({
    ...{ db, clock, logger, tenants, lastUse, signatures },
    secrets: tokenSecrets,
    isDomainBlocked: (idTag) => domainBlocks.isBlocked(idTag),
    findIdentityKey: (idTag, kid, address) => findIdentityKey(identities, { idTag, kid, address }),
    shareForgotten: (forgotten) => services.nodeBus.publish(invalidationChannel, JSON.stringify(forgotten)),
  })
  services.nodeBus.subscribe(invalidationChannel, {
    onMessage: (message) => followInvalidations({ authenticator, tenants }, message),
  })
  const findLifetimes = (tenantId: TenantId) => lifetimesOf(settings, tenantId)
  return {
    emit,
    tenants,
    identities,
    lastUse,
    authenticator,
    passwords: createPasswordHasher(passwordCost),
    createTenant: {
      tenants,
      keys: signingKeys,
      clock,
      isProxied,
      async createOwnProfile(tx: Writer, profile: OwnProfile) {
        assertCanBeServed(config, profile.idTag)
        await assertNotManaged(tx, profile.idTag)
        await createOwnProfile({ clock }, tx, profile)
        await emit(tx, { kind: 'hosted-name.added', idTag: profile.idTag })
      },
    },
    settings,
    findLifetimes,
    proxyToken: proxyTokenMinter({ clock, keys: signingKeys, findLifetimes }),
    findOwnProfile: ({ tenantId, idTag }: Tenant) => findShownProfile(db.reader(tenantId), idTag),
    defaultTenant: config.defaultTenant,
  }
}

export type IdentityFeatures = ReturnType<typeof openIdentityFeatures>

function openIdentityCache(
  services: Services,
  { addresses, domainBlocks, emit, tenants }: IdentityParts & { readonly tenants: Tenants },
): Identities {
  const { db, clock, dns, egress, config, signingKeys } = services
  const { discoveryName, identityHosts } = config.federation
  const identities = openIdentities({
    db,
    clock,
    dns,
    egress,
    discoveryName,
    identityHosts,
    allowPlainHttp: allowsPlainHttp(config),
    localhostUrl: addresses.localhostUrl,
    findLocal: localIdentities({ ...addresses, tenants, keys: signingKeys }),
    emit,
  })
  return withoutBlocked({ identities, domainBlocks, tenants })
}
