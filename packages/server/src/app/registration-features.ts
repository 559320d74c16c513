import {
  type NameCheck,
  registrationEndpoints,
  sweepUnfinished,
  sweepUnfinishedJob,
} from '#features/registration/index.ts'
import { revokeSessions } from '#features/sessions/index.ts'
import { putOwnSetting } from '#features/settings/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import type { Endpoint } from '#infra/http/index.ts'
import { removeTraces } from './cli/tenant/purge-tenant.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'

const sweepPeriodMs = 10 * 60_000

/** How people get an account, and how one that nobody uses goes again. */
export function wireRegistration(
  { db, clock, vault, jobs, blobs, tokenSecrets }: Services,
  { createTenant, tenants, settings, authenticator, findLifetimes }: IdentityFeatures,
  names: NameCheck,
): Endpoint[] {
  jobs.handle(sweepUnfinishedJob, () =>
    sweepUnfinished({
      db,
      clock,
      tenants,
      revokeSessions: async (tx) => void (await revokeSessions({ clock, authenticator }, tx)),
      removeTenant: async (tenant) => void (await removeTraces({ db, blobs, clock, tenants }, tenant)),
    }),
  )
  jobs.every(sweepUnfinishedJob, sweepPeriodMs)
  return registrationEndpoints({
    ...createTenant,
    db,
    vault,
    jobs,
    secrets: tokenSecrets,
    names,
    findPolicy: () => settings.find(serverTenant, 'server.registration'),
    findMaxTenants: () => settings.find(serverTenant, 'limits.max_tenants'),
    requiresVerifiedEmail: (tenantId) => settings.find(tenantId, 'auth.require_verified_email'),
    findLifetimes,
    chooseLanguage: (tx, value) =>
      putOwnSetting({ db, vault, clock, settings }, tx, { name: 'language', value }),
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
