import type { IdTag } from '@kith/protocol'
import { endSignIns } from '#features/accounts/index.ts'
import {
  addUnfinishedSweep,
  type NameCheck,
  openRemoteProviders,
  type RemoteProviders,
  registrationEndpoints,
  registrationFinder,
  releaseName,
  releaseNameJob,
} from '#features/registration/index.ts'
import { putOwnSetting } from '#features/settings/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import type { Endpoint } from '#infra/http/index.ts'
import type { Addresses } from './addresses.ts'
import type { IdentityFeatures } from './identity-features.ts'
import { forgetIdentity } from './purge/forget-identity.ts'
import { removeTraces } from './purge/purge-tenant.ts'
import type { Services } from './services.ts'

/** Registration, and the removal of accounts that were never used. */
export function wireRegistration(
  { db, clock, logger, vault, jobs, blobs, tokenSecrets }: Services,
  { createTenant, tenants, settings, emit, findLifetimes }: IdentityFeatures,
  { names, providers }: { readonly names: NameCheck; readonly providers: RemoteProviders },
): Endpoint[] {
  jobs.handle(releaseNameJob, ({ providerTag, idTag }) =>
    releaseName({ tenants, providers }, { providerTag: providerTag as IdTag, idTag: idTag as IdTag }),
  )
  addUnfinishedSweep(jobs, {
    db,
    clock,
    tenants,
    emit,
    revokeSessions: (tx) => endSignIns({ clock, emit }, tx),
    async removeTenant(tenant) {
      await forgetIdentity({ db, tenants }, tenant.idTag)
      await removeTraces({ db, blobs, clock, tenants, emit }, tenant)
    },
  })
  return registrationEndpoints({
    ...createTenant,
    ...{ db, logger, vault, jobs, emit },
    secrets: tokenSecrets,
    names,
    providers,
    findPolicy: () => settings.find(serverTenant, 'server.registration'),
    findMaxTenants: () => settings.find(serverTenant, 'limits.max_tenants'),
    requiresVerifiedEmail: (tenantId) => settings.find(tenantId, 'auth.require_verified_email'),
    findLifetimes,
    chooseLanguage: (tx, value) =>
      putOwnSetting({ db, vault, clock, settings }, tx, { name: 'language', value }),
  })
}

/** The client of identity providers on other servers, which the base tenant signs for. */
export function openProviders(
  { egress }: Services,
  { tenants, identities, proxyToken }: IdentityFeatures,
  addresses: Addresses,
): RemoteProviders {
  return openRemoteProviders({
    egress,
    identities,
    proxyToken: async (target) => proxyToken(await tenants.base(), target),
    ownAddress: () => addresses.ownAddress(),
  })
}

/** Says where people register, and who may. */
export function openRegistration(
  { config }: Pick<Services, 'config'>,
  { tenants, settings }: Pick<IdentityFeatures, 'tenants' | 'settings'>,
) {
  return registrationFinder({ tenants, settings, servesEveryTenant: config.publicUrl.servesEveryTenant })
}
