import type { HeldCredential } from '#features/accounts/index.ts'
import type { Bus } from '#features/bus/index.ts'
import { domainBlockEndpoints, guardEgress, openDomainBlocks } from '#features/federation/index.ts'
import { addFileSweeps } from '#features/files/index.ts'
import { pushEndpoints } from '#features/push/index.ts'
import { settingEndpoints } from '#features/settings/index.ts'
import { hostFinder } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { soleHostOf } from '#infra/config/index.ts'
import { Events } from '#infra/events/index.ts'
import type { Endpoint, HttpHooks, RateLimits } from '#infra/http/index.ts'
import { actionPorts, wireActions } from './action-features.ts'
import type { Addresses } from './addresses.ts'
import { openBusFeature } from './bus-features.ts'
import { wireFederation } from './federation-features.ts'
import { openFileFeatures } from './file-features.ts'
import { fileParts, fileTelling } from './file-parts.ts'
import { assertStorable } from './full-disk.ts'
import { type IdentityFeatures, openIdentityFeatures } from './identity-features.ts'
import { type IdentityProvider, wireIdentityProvider } from './idp-features.ts'
import { openNames } from './name-check.ts'
import { wireProfiles } from './profile-features.ts'
import { type AppEvent, reactionsOf } from './reactions.ts'
import { openRealtimeFeatures, type Realtime } from './realtime-features.ts'
import { openProviders, openRegistration, wireRegistration } from './registration-features.ts'
import { addRowSweeps } from './row-sweeps.ts'
import type { Services } from './services.ts'
import { signInParts, wireSignIn } from './sign-in-features.ts'

/** Every feature, wired with what it needs of others and with the reactions to its events. */
export interface Features {
  readonly identity: IdentityFeatures
  readonly endpoints: readonly Endpoint[]
  readonly hooks: HttpHooks<HeldCredential>
  /** Who may register on the host of a tenant; undefined where nobody can. */
  findRegistration(tenant: Tenant): Promise<'open' | 'invite' | undefined>
  /** Does the tenant give names to others? */
  isProvider(tenant: Tenant): Promise<boolean>
  readonly bus: Bus
  readonly realtime: Realtime
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
  const realtime = openRealtimeFeatures(services, identity)
  const files = openFileFeatures(services, fileParts(identity, addresses, realtime.contents))
  const ports = actionPorts(services, identity, files.forActions)
  const telling = fileTelling(ports, identity)
  addFileSweeps(services.jobs, { ...files.deps, ...telling })
  const providers = openProviders(services, identity, addresses)
  const names = openNames(services, identity, { addresses, domainBlocks, providers })
  const idp = wireIdentityProvider(services, identity, { addresses, domainBlocks })
  return {
    identity,
    endpoints: [
      ...wireSignIn(signInParts(services, identity, { addresses, rateLimits, files })),
      ...wireRegistration(services, identity, { names, providers }),
      ...wireProfiles(services, identity, { addresses, ports, files, names }),
      ...files.wire(telling),
      ...wireActions(services, identity, ports),
      ...wireFederation(services, identity, { addresses, domainBlocks, rateLimits, ports }),
      ...domainBlockEndpoints({ ...services, domainBlocks }),
      ...idp.endpoints,
      ...pushEndpoints(services),
      ...settingEndpoints({ ...services, ...identity }),
    ],
    hooks: hooksOf(identity, idp, services),
    findRegistration: openRegistration(services, identity),
    isProvider: idp.isProvider,
    bus,
    realtime: { routes: realtime.routesTo(files.live), settled: realtime.settled },
    async close() {
      await realtime.close()
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
  const offers = { idp: idp.isProvider }
  const soleHost = soleHostOf(publicUrl, baseIdTag)
  return {
    findTenant: hostFinder({ tenants, baseIdTag, soleHost, defaultTenant }),
    authenticate: (presented) => idp.authenticate(presented, (bearer) => authenticator.hold(bearer)),
    hasFeature: (tenant, feature) => offers[feature](tenant),
    assertStorable: (contract) => assertStorable(diskReserve, contract),
  }
}
