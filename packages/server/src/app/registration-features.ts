import type { IdTag } from '@kith/protocol'
import { endSignIns, mintProxyToken } from '#features/accounts/index.ts'
import {
  type NameCheck,
  openRemoteProviders,
  type RemoteProviders,
  registrationEndpoints,
  releaseName,
  releaseNameJob,
  sweepUnfinished,
  sweepUnfinishedJob,
} from '#features/registration/index.ts'
import { putOwnSetting } from '#features/settings/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import type { Endpoint } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { Addresses } from './addresses.ts'
import { forgetIdentity } from './cli/tenant/forget-identity.ts'
import { removeTraces } from './cli/tenant/purge-tenant.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'

const sweepPeriodMs = 10 * 60_000

/** How people get an account, and how one that nobody uses goes again. */
export function wireRegistration(
  { db, clock, vault, jobs, blobs, tokenSecrets }: Services,
  { createTenant, tenants, settings, emit, findLifetimes }: IdentityFeatures,
  { names, providers }: { readonly names: NameCheck; readonly providers: RemoteProviders },
): Endpoint[] {
  jobs.handle(releaseNameJob, ({ providerTag, idTag }) =>
    releaseName({ tenants, providers }, { providerTag: providerTag as IdTag, idTag: idTag as IdTag }),
  )
  jobs.handle(sweepUnfinishedJob, () =>
    sweepUnfinished({
      db,
      clock,
      tenants,
      revokeSessions: (tx) => endSignIns({ clock, emit }, tx),
      async removeTenant(tenant) {
        await forgetIdentity({ db, tenants }, tenant.idTag)
        await removeTraces({ db, blobs, clock, tenants }, tenant)
      },
    }),
  )
  jobs.every(sweepUnfinishedJob, sweepPeriodMs)
  return registrationEndpoints({
    ...createTenant,
    db,
    vault,
    jobs,
    emit,
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

/** The identity providers of other servers, before which the base tenant speaks for this one. */
export function openProviders(
  { clock, config, egress, signingKeys }: Services,
  { tenants, identities, findLifetimes }: IdentityFeatures,
  addresses: Addresses,
): RemoteProviders {
  return openRemoteProviders({
    egress,
    identities,
    async proxyToken(target) {
      const base = await tenants.base()
      const issuedAt = nowSecs(clock)
      const { proxySecs } = await findLifetimes(base.tenantId)
      return mintProxyToken(signingKeys, base, { target, issuedAt, expiresAt: issuedAt + proxySecs })
    },
    ownAddress() {
      const [address] = config.federation.localAddresses
      return address ?? new URL(addresses.serverUrl(config.baseIdTag)).hostname.replace(/^\[|\]$/g, '')
    },
  })
}

/** On which host people register, and who may: that of the base tenant, if others can be reached at all. */
export function registrationFinder(
  { config }: Pick<Services, 'config'>,
  { tenants, settings }: Pick<IdentityFeatures, 'tenants' | 'settings'>,
) {
  return async ({ tenantId }: Tenant) => {
    if (!config.publicUrl.servesEveryTenant || (await tenants.base()).tenantId !== tenantId) return undefined
    return await settings.find(serverTenant, 'server.registration')
  }
}
