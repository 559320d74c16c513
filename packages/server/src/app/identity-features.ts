import type { CommunityRole, IdTag } from '@kith/protocol'
import { Authenticator, createPasswordHasher, type Invalidation, LastUse } from '#features/accounts/index.ts'
import {
  type DomainBlocks,
  hasKid,
  type Identities,
  openIdentities,
  withoutBlocked,
} from '#features/federation/index.ts'
import { isManaged } from '#features/idp/index.ts'
import { createOwnProfile, getOwnProfile } from '#features/profiles/index.ts'
import {
  findRelations,
  isSuspendedOrBanned,
  noRelation,
  roleOf,
  withServerStatus,
} from '#features/relations/index.ts'
import { openSettings } from '#features/settings/index.ts'
import { openTenants, type Tenants } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database, TenantId, Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { Failure } from '#lib/failure.ts'
import type { Addresses } from './addresses.ts'
import type { AppEvent } from './reactions.ts'
import { assertCanBeServed } from './served-tenants.ts'
import type { Services } from './services.ts'
import { diskReserveOf, lifetimesOf } from './settings-ports.ts'

/** On which processes tell each other what must not be believed from memory. */
export const invalidationChannel = 'forgotten'

type OwnProfile = Parameters<typeof createOwnProfile>[2]

interface IdentityParts {
  readonly addresses: Addresses
  readonly domainBlocks: DomainBlocks
  readonly emit: Emit<AppEvent>
}

/** Who is who: the tenants of this server, identities elsewhere, and who a bearer is. What the other features build on. */
export function openIdentityFeatures(services: Services, { addresses, domainBlocks, emit }: IdentityParts) {
  const { db, clock, config, vault, signatures, signingKeys, tokenSecrets } = services
  const settings = openSettings({ db, clock, vault })
  services.diskReserve.follow(() => diskReserveOf(settings))
  const tenants = openTenants({ db, clock })
  const identities = openIdentityCache(services, { addresses, domainBlocks, emit, tenants })
  const lastUse = new LastUse(db, clock)
  const findIdentityKey = identityKeyFinder(identities)
  const authenticator = new Authenticator({
    db,
    clock,
    tenants,
    lastUse,
    secrets: tokenSecrets,
    signatures,
    findIdentityKey,
    shareForgotten: (forgotten) => services.nodeBus.publish(invalidationChannel, JSON.stringify(forgotten)),
    findRole: (tenant, callerTag) => findRole(db, tenant, callerTag),
  })
  followForgotten(services, { authenticator, tenants })
  return {
    emit,
    tenants,
    identities,
    lastUse,
    authenticator,
    findIdentityKey,
    passwords: createPasswordHasher(),
    createTenant: {
      tenants,
      keys: signingKeys,
      clock,
      async createOwnProfile(tx: Writer, profile: OwnProfile) {
        assertCanBeServed(config, profile.idTag)
        // A provider of this server gave the name to somebody, perhaps a moment ago.
        if (await isManaged(tx, [profile.idTag])) throw new Failure('E-PROFILE-EXISTS')
        await createOwnProfile({ clock }, tx, profile)
      },
    },
    settings,
    findLifetimes: (tenantId: TenantId) => lifetimesOf(settings, tenantId),
    findOwnProfile: (tenant: Tenant) => findOwnProfile(db, tenant),
    defaultTenant: config.defaultTenant,
  }
}

export type IdentityFeatures = ReturnType<typeof openIdentityFeatures>

function openIdentityCache(
  services: Services,
  { addresses, domainBlocks, emit, tenants }: IdentityParts & { readonly tenants: Tenants },
): Identities {
  const { db, clock, dns, egress, config, signingKeys } = services
  const { discoveryName, identityHosts, allowPrivateNetwork } = config.federation
  const identities = openIdentities({
    db,
    clock,
    dns,
    egress,
    discoveryName,
    identityHosts,
    allowPlainHttp: allowPrivateNetwork !== false,
    localhostUrl: (idTag) => `http://${idTag}:${addresses.port}`,
    async findLocal(idTag) {
      const tenant = await tenants.find(idTag)
      if (!tenant) return undefined
      const keys = await signingKeys.list(tenant.tenantId)
      return { idTag, serverUrl: addresses.serverUrl(idTag), inboxUrl: addresses.inboxUrl(idTag), keys }
    },
    emit,
  })
  const isHosted = async (idTag: IdTag) => (await tenants.find(idTag)) !== undefined
  return withoutBlocked({ identities, domainBlocks, isHosted })
}

function identityKeyFinder(identities: Identities) {
  return async (idTag: IdTag, kid: string, address: string) => {
    const asker = { cause: 'bearer', key: address } as const
    for (const refresh of [false, true]) {
      const resolved = await identities.resolve(idTag, { refresh, asker })
      if (resolved.kind === 'unreachable') throw new Failure('E-UNAVAILABLE')
      if (resolved.kind === 'unknown') return undefined
      const key = resolved.identity.keys.find((candidate) => hasKid(candidate, kid))
      if (key) return key
    }
    return undefined
  }
}

/** A tenant by its number, for jobs. */
export async function getTenant(tenants: Tenants, tenantId: TenantId): Promise<Tenant> {
  const tenant = await tenants.findById(tenantId)
  if (!tenant) throw new Failure('E-PROFILE-NOTFOUND')
  return tenant
}

/** The role of an identity at a tenant; undefined when the server has suspended or banned it. */
async function findRole(db: Database, tenant: Tenant, callerTag: IdTag): Promise<CommunityRole | undefined> {
  const { own, server } = await findRelations(db.reader(tenant.tenantId), callerTag)
  if (server && isSuspendedOrBanned(server)) return undefined
  return roleOf(withServerStatus(own ?? noRelation(callerTag), server))
}

/** Forgets what another process of the server says must not be believed from memory. */
function followForgotten(
  services: Services,
  { authenticator, tenants }: { readonly authenticator: Authenticator; readonly tenants: Tenants },
): void {
  services.nodeBus.subscribe(invalidationChannel, {
    onMessage(message) {
      const forgotten = JSON.parse(message) as Invalidation
      authenticator.applyInvalidation(forgotten)
      // A tenant of whom everything is forgotten may have been suspended.
      if ('tenantId' in forgotten && forgotten.sid === undefined) tenants.forget()
    },
  })
}

async function findOwnProfile(db: Database, { tenantId, idTag }: Tenant) {
  const { name, profilePic } = await getOwnProfile(db.reader(tenantId), idTag)
  return { name, ...(profilePic === undefined ? {} : { profilePic }) }
}
