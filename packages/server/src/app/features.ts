import type { IdTag } from '@kith/protocol'
import { handleAccountMails } from '#features/account-mails/index.ts'
import { auditEndpoints } from '#features/audit/index.ts'
import { domainBlockEndpoints, guardEgress, openDomainBlocks } from '#features/domain-blocks/index.ts'
import {
  fetchFile,
  fetchFileJob,
  fileEndpoints,
  makeVariants,
  makeVariantsJob,
} from '#features/files/index.ts'
import { profileEndpoints, refreshProfile, refreshProfileJob } from '#features/profiles/index.ts'
import { referencesEndpoints } from '#features/references/index.ts'
import { mintProxyToken } from '#features/sessions/index.ts'
import { handleForgottenPasswords, signInEndpoints } from '#features/sign-in/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import type { Endpoint, HttpHooks, RateLimits } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { Addresses } from './addresses.ts'
import { wireActions } from './federation-features.ts'
import { getTenant, type IdentityFeatures, openIdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'
import { removeSetUpLink } from './set-up-link.ts'
import { version } from './version.ts'

/** Every feature, wired: what it needs of others, and what happens because of what. */
export interface Features {
  readonly identity: IdentityFeatures
  readonly endpoints: readonly Endpoint[]
  readonly hooks: HttpHooks
  close(): Promise<void>
}

/** Builds the features, left to right, and registers their jobs. */
export function openFeatures(opened: Services, addresses: Addresses, rateLimits: RateLimits): Features {
  const domainBlocks = openDomainBlocks(opened)
  const services = { ...opened, egress: guardEgress(opened.egress, domainBlocks) }
  const identity = openIdentityFeatures(services, addresses, domainBlocks)
  return {
    identity,
    endpoints: [
      ...wireSignIn(services, identity, addresses),
      ...wireProfiles(services, identity, addresses),
      ...wireFiles(services, identity),
      ...wireActions(services, identity, { addresses, domainBlocks, rateLimits }),
      ...domainBlockEndpoints({ ...services, domainBlocks }),
    ],
    hooks: hooksOf(identity),
    async close() {
      await identity.lastUse[Symbol.asyncDispose]()
    },
  }
}

function hooksOf({ tenants, authenticator, defaultTenant }: IdentityFeatures): HttpHooks {
  return {
    async findTenant(host) {
      const named = await tenants.findByHost(host)
      return named ?? (defaultTenant && (await tenants.find(defaultTenant)))
    },
    authenticate: async ({ tenant, bearer }) => (await authenticator.authenticate({ tenant, bearer })).caller,
  }
}

function wireSignIn(services: Services, identity: IdentityFeatures, addresses: Addresses): Endpoint[] {
  const { db, clock, vault, signingKeys, tokenSecrets, jobs, mailer } = services
  const { identities, tenants } = identity
  const findFileAccess = async () => undefined
  const serverUrlOf = ({ idTag }: Tenant) => addresses.serverUrl(idTag)
  handleForgottenPasswords(jobs, { db, clock, vault, tenants })
  handleAccountMails(jobs, { db, vault, mailer, tenants, serverUrlOf, findLanguage: async () => undefined })
  return [
    ...signInEndpoints({
      ...identity,
      db,
      clock,
      vault,
      keys: signingKeys,
      secrets: tokenSecrets,
      jobs,
      serverUrlOf,
      findFileAccess,
      findMakersFileAccess: findFileAccess,
      listLoginSettings: async () => [],
      requiresVerifiedEmail: async () => false,
      onPasswordSet: (tenant) => forgetSetUpLink(services, tenant),
      hasIdentity: async (idTag: IdTag) => {
        const resolved = await identities.resolve(idTag)
        if (resolved.kind === 'unreachable') throw new Failure('E-UNAVAILABLE')
        return resolved.kind === 'found'
      },
    }),
    ...referencesEndpoints({ db, clock, vault, findFileAccess, authenticator: identity.authenticator }),
    ...auditEndpoints({ db, clock }),
  ]
}

/** A set-up link that was used need not lie about. */
function forgetSetUpLink({ config, logger }: Services, { idTag }: Tenant): void {
  if (idTag !== config.baseIdTag) return
  removeSetUpLink(config.dataDir).catch((error: unknown) =>
    logger.warn({ err: error }, 'the file of the set-up link could not be removed'),
  )
}

function wireProfiles(services: Services, identity: IdentityFeatures, addresses: Addresses): Endpoint[] {
  const { db, clock, jobs, egress, signingKeys } = services
  const deps = { db, clock, jobs, egress, tenants: identity.tenants, identities: identity.identities }
  jobs.handle(refreshProfileJob, ({ idTag }) => refreshProfile(deps, idTag as IdTag))
  return profileEndpoints({
    ...deps,
    keys: signingKeys,
    serverUrl: addresses.serverUrl,
    inboxUrl: addresses.inboxUrl,
    serverInfo: { version, features: ['federation'] },
  })
}

// SPEC "Limits", tier free.
const freeTier = { maxFileBytes: 100 * 1024 ** 2, maxStorageBytes: 10 * 1024 ** 3 }

function wireFiles(services: Services, { tenants, identities, findLifetimes }: IdentityFeatures): Endpoint[] {
  const { db, clock, jobs, blobs, images, tempDir, egress, signingKeys } = services
  const limitsOf = async () => freeTier
  const imageFormatOf = async () => 'webp' as const
  const deps = { db, clock, jobs, blobs, images, tempDir, limitsOf, imageFormatOf }
  jobs.handle(makeVariantsJob, (payload, context) => makeVariants(deps, payload, context))
  const fetchDeps = {
    ...deps,
    egress,
    async findServer(ownerTag: IdTag) {
      const resolved = await identities.resolve(ownerTag)
      return resolved.kind === 'found'
        ? { kind: 'found' as const, serverUrl: resolved.identity.serverUrl }
        : resolved
    },
    async proxyToken(tenantId: TenantId, target: IdTag) {
      const { proxySecs } = await findLifetimes()
      const issuedAt = nowSecs(clock)
      const token = { target, issuedAt, expiresAt: issuedAt + proxySecs }
      return await mintProxyToken(signingKeys, await getTenant(tenants, tenantId), token)
    },
  }
  jobs.handle(fetchFileJob, (payload, context) => fetchFile(fetchDeps, payload, context))
  return fileEndpoints({ ...deps, findName: async () => undefined })
}
