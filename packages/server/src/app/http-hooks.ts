import { type HeldCredential, listEnded, listEndedTenants } from '#features/accounts/index.ts'
import { listSuspendedOrBanned } from '#features/relations/index.ts'
import { hostFinder } from '#features/tenants/index.ts'
import { soleHostOf } from '#infra/config/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import type { HttpHooks } from '#infra/http/index.ts'
import { assertStorable } from './full-disk.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { IdentityProvider } from './idp-features.ts'
import type { Services } from './services.ts'

/** What the admission of requests and sockets, and their review, ask of the features. */
export function httpHooksOf(
  { tenants, authenticator, defaultTenant }: IdentityFeatures,
  idp: IdentityProvider,
  { db, clock, config: { publicUrl, baseIdTag }, diskReserve }: Services,
): Required<HttpHooks<HeldCredential>> {
  const reader = db.reader(serverTenant)
  const ended = { db, clock, tenants, listSuspendedOrBanned: listSuspendedOrBanned.bind(undefined, reader) }
  const offers = { idp: idp.isProvider }
  const soleHost = soleHostOf(publicUrl, baseIdTag)
  return {
    findTenant: hostFinder({ tenants, baseIdTag, soleHost, defaultTenant }),
    authenticate: (presented) => idp.authenticate(presented, (bearer) => authenticator.hold(bearer)),
    hasFeature: (tenant, feature) => offers[feature](tenant),
    assertStorable: (contract) => assertStorable(diskReserve, contract),
    listEnded: (held) => listEnded(ended, held),
    listEndedTenants: (tenantIds) => listEndedTenants(ended, tenantIds),
  }
}
