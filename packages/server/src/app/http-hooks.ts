import type { HeldCredential } from '#features/accounts/index.ts'
import { hostFinder } from '#features/tenants/index.ts'
import { soleHostOf } from '#infra/config/index.ts'
import type { HttpHooks } from '#infra/http/index.ts'
import { assertStorable } from './full-disk.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { IdentityProvider } from './idp-features.ts'
import type { Services } from './services.ts'

/** What the admission of requests and sockets asks of the features. */
export function httpHooksOf(
  { tenants, authenticator, defaultTenant }: IdentityFeatures,
  idp: IdentityProvider,
  { config: { publicUrl, baseIdTag }, diskReserve }: Services,
): HttpHooks<HeldCredential> {
  const offers = { idp: idp.isProvider }
  const soleHost = soleHostOf(publicUrl, baseIdTag)
  return {
    findTenant: hostFinder({ tenants, baseIdTag, soleHost, defaultTenant }),
    authenticate: (presented) => idp.authenticate(presented, (bearer) => authenticator.hold(bearer)),
    hasFeature: (tenant, feature) => offers[feature](tenant),
    assertStorable: (contract) => assertStorable(diskReserve, contract),
  }
}
