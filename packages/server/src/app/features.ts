import type { IdTag, TenantFeature } from '@kith/protocol'
import {
  type HeldCredential,
  handleAccountMails,
  handleForgottenPasswords,
  referencesEndpoints,
  signInEndpoints,
} from '#features/accounts/index.ts'
import { auditEndpoints } from '#features/audit/index.ts'
import type { Bus } from '#features/bus/index.ts'
import { domainBlockEndpoints, guardEgress, openDomainBlocks } from '#features/federation/index.ts'
import { pushEndpoints } from '#features/push/index.ts'
import { settingEndpoints } from '#features/settings/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { publicUrlOf } from '#infra/config/index.ts'
import { Events } from '#infra/events/index.ts'
import type { Endpoint, HttpHooks, RateLimits } from '#infra/http/index.ts'
import { Failure } from '#lib/failure.ts'
import type { Addresses } from './addresses.ts'
import { openBusFeature } from './bus-features.ts'
import { actionPorts, wireActions } from './federation-features.ts'
import { type FileFeatures, openFileFeatures } from './file-features.ts'
import { assertStorable } from './full-disk.ts'
import { type IdentityFeatures, openIdentityFeatures } from './identity-features.ts'
import { type IdentityProvider, wireIdentityProvider } from './idp-features.ts'
import { openNames } from './name-check.ts'
import { wireProfiles } from './profile-features.ts'
import { type AppEvent, reactionsOf } from './reactions.ts'
import { openProviders, registrationFinder, wireRegistration } from './registration-features.ts'
import { addRowSweeps } from './row-sweeps.ts'
import type { Services } from './services.ts'
import { openSettingsMailer } from './settings-mailer.ts'
import { loginSettingsOf } from './settings-ports.ts'

/** Every feature, wired: what it needs of others, and what happens because of what. */
export interface Features {
  readonly identity: IdentityFeatures
  readonly endpoints: readonly Endpoint[]
  readonly hooks: HttpHooks<HeldCredential>
  /** Who may register on the host of a tenant; undefined where nobody can. */
  findRegistration(tenant: Tenant): Promise<'open' | 'invite' | undefined>
  /** Does the tenant give names to others? */
  isProvider(tenant: Tenant): Promise<boolean>
  readonly bus: Bus
  close(): Promise<void>
}

/** Builds the features, left to right, and registers their jobs. */
export function openFeatures(opened: Services, addresses: Addresses, rateLimits: RateLimits): Features {
  const domainBlocks = openDomainBlocks(opened)
  const services = { ...opened, egress: guardEgress(opened.egress, domainBlocks) }
  const events = new Events<AppEvent>()
  const identity = openIdentityFeatures(services, { addresses, domainBlocks, emit: events.emit })
  const bus = openBusFeature(services, identity)
  events.subscribe(reactionsOf(services, { identity, bus }))
  addRowSweeps(services)
  const files = openFileFeatures(services, identity, addresses)
  const ports = actionPorts(services, identity, files.fileShares)
  const providers = openProviders(services, identity, addresses)
  const names = openNames(services, identity, { addresses, domainBlocks, providers })
  const idp = wireIdentityProvider(services, identity, { addresses, domainBlocks })
  return {
    identity,
    endpoints: [
      ...wireSignIn(services, identity, { addresses, rateLimits, files }),
      ...wireRegistration(services, identity, { names, providers }),
      ...wireProfiles(services, identity, { addresses, ports, files, names }),
      ...files.endpoints,
      ...files.wireActions(ports),
      ...wireActions(services, identity, { addresses, domainBlocks, rateLimits, ports }),
      ...domainBlockEndpoints({ ...services, domainBlocks }),
      ...idp.endpoints,
    ],
    hooks: hooksOf(identity, idp, services),
    findRegistration: registrationFinder(services, identity),
    isProvider: idp.isProvider,
    bus,
    async close() {
      await bus.close()
      await identity.lastUse[Symbol.asyncDispose]()
      await files.close()
    },
  }
}

function hooksOf(
  { tenants, authenticator, defaultTenant }: IdentityFeatures,
  idp: IdentityProvider,
  { config: { publicUrl, baseIdTag }, diskReserve }: Services,
): HttpHooks<HeldCredential> {
  const offers: Readonly<Record<TenantFeature, (tenant: Tenant) => Promise<boolean>>> = {
    idp: idp.isProvider,
  }
  const soleHost = publicUrl.servesEveryTenant
    ? undefined
    : new URL(publicUrlOf(publicUrl, baseIdTag, 0)).hostname
  return {
    async findTenant(host) {
      const named = await tenants.findByHost(host)
      const other = host === soleHost ? baseIdTag : defaultTenant
      return named ?? (other && (await tenants.find(other)))
    },
    async authenticate({ tenant, bearer, ip }) {
      const keyHolder = await idp.findKeyHolder(tenant, bearer)
      if (keyHolder) return { caller: keyHolder }
      const { caller, credential } = await authenticator.authenticate({ tenant, bearer, ip })
      return { caller, credential: { tenant, credential } }
    },
    hasFeature: (tenant, feature) => offers[feature](tenant),
    assertStorable: (contract) => assertStorable(diskReserve, contract),
  }
}

function wireSignIn(
  services: Services,
  identity: IdentityFeatures,
  {
    addresses,
    rateLimits,
    files,
  }: {
    readonly addresses: Addresses
    readonly rateLimits: RateLimits
    readonly files: FileFeatures
  },
): Endpoint[] {
  const { db, clock, vault, signingKeys, tokenSecrets, jobs } = services
  const { identities, settings, emit } = identity
  const { findFileAccess, findGrantableAccess, findMakersFileAccess } = files
  const serverUrlOf = ({ idTag }: Tenant) => addresses.serverUrl(idTag)
  handleSignInJobs(services, identity, serverUrlOf)
  return [
    ...signInEndpoints({
      ...identity,
      db,
      clock,
      vault,
      keys: signingKeys,
      secrets: tokenSecrets,
      jobs,
      rateLimits,
      serverUrlOf,
      findFileAccess,
      findMakersFileAccess,
      listLoginSettings: (tenantId) => loginSettingsOf(settings, tenantId),
      requiresVerifiedEmail: (tenantId) => settings.find(tenantId, 'auth.require_verified_email'),
      hasIdentity: async (idTag: IdTag, owner: IdTag) => {
        const resolved = await identities.resolve(idTag, { asker: { cause: 'owner', key: owner } })
        if (resolved.kind === 'unreachable') throw new Failure('E-UNAVAILABLE')
        return resolved.kind === 'found'
      },
    }),
    ...referencesEndpoints({ db, clock, vault, findFileAccess: findGrantableAccess, emit }),
    ...pushEndpoints({ db, vault, clock }),
    ...auditEndpoints({ db, clock }),
    ...settingEndpoints({ db, clock, vault, settings, emit }),
  ]
}

function handleSignInJobs(
  services: Services,
  { tenants, settings }: IdentityFeatures,
  serverUrlOf: (tenant: Tenant) => string,
): void {
  const { db, clock, vault, jobs } = services
  handleForgottenPasswords(jobs, { db, clock, vault, tenants })
  handleAccountMails(jobs, {
    db,
    vault,
    mailer: openSettingsMailer(services, settings),
    tenants,
    serverUrlOf,
    findLanguage: (tenantId) => settings.find(tenantId, 'language'),
  })
}
