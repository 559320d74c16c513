import type { IdTag } from '@kith/protocol'
import type { DomainBlocks } from '#features/federation/index.ts'
import {
  activationMailJob,
  addManagedIdentitySweep,
  forgetNameJob,
  idpEndpoints,
  listOwnHosts,
  openProvider,
  type Provider,
  sendActivationMail,
} from '#features/idp/index.ts'
import { isProxied } from '#features/proxy/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import type { Endpoint } from '#infra/http/index.ts'
import type { Addresses } from './addresses.ts'
import type { IdentityFeatures } from './identity-features.ts'
import { forgetFreeName } from './purge/forget-identity.ts'
import type { Services } from './services.ts'
import { openSettingsMailer } from './settings-mailer.ts'
import { providerTextsOf } from './settings-ports.ts'

/** The names that tenants of this server give to others. */
export interface IdentityProvider extends Provider {
  readonly endpoints: readonly Endpoint[]
}

export function wireIdentityProvider(
  services: Services,
  identity: IdentityFeatures,
  { addresses, domainBlocks }: { readonly addresses: Addresses; readonly domainBlocks: DomainBlocks },
): IdentityProvider {
  const { db, clock, vault, jobs, config } = services
  const { settings, tenants, identities, emit } = identity
  const mailDeps = {
    ...{ db, clock, vault, logger: services.logger },
    mailer: openSettingsMailer(services, settings),
    tenants,
    serverUrlOf: ({ idTag }: Tenant) => addresses.serverUrl(idTag),
    findLanguage: (tenantId: Tenant['tenantId']) => settings.find(tenantId, 'language'),
  }
  jobs.handle(activationMailJob, (payload, context) => sendActivationMail(mailDeps, payload, context))
  const resolve = (idTag: IdTag) => identities.resolve(idTag)
  addManagedIdentitySweep(jobs, { db, clock, jobs, emit, resolve })
  jobs.handle(forgetNameJob, ({ idTag }) => forgetFreeName({ db, tenants }, idTag as IdTag))
  return {
    ...openProvider({ db, clock, tenants, settings }),
    endpoints: idpEndpoints({
      db,
      clock,
      vault,
      jobs,
      emit,
      findOwnHosts: () => listOwnHosts(settings, config.federation.localAddresses),
      findReservedNames: () => settings.find(serverTenant, 'idp.reserved_names'),
      isProxied,
      isBlockedDomain: (name) => domainBlocks.isBlocked(name),
      findWords: (tenantId) => providerTextsOf(settings, tenantId),
    }),
  }
}
