import type { HeldCredential } from '#features/accounts/index.ts'
import type { Bus } from '#features/bus/index.ts'
import { conversationEndpoints } from '#features/conversations/index.ts'
import { guardEgress, openDomainBlocks } from '#features/federation/index.ts'
import { addFileSweeps } from '#features/files/index.ts'
import type { ProviderZones } from '#features/idp/index.ts'
import { settingEndpoints } from '#features/settings/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { Events } from '#infra/events/index.ts'
import type { Endpoint, Gateway, HttpHooks, RateLimits } from '#infra/http/index.ts'
import { actionPorts, wireActions } from './action-features.ts'
import type { Addresses } from './addresses.ts'
import { openAppFeature } from './app-features.ts'
import { openBusFeature } from './bus-features.ts'
import { wireFederation } from './federation-features.ts'
import { openFileFeatures } from './file-features.ts'
import { fileParts, fileTelling } from './file-parts.ts'
import { openGatewayFeature } from './gateway-features.ts'
import { httpHooksOf } from './http-hooks.ts'
import { type IdentityFeatures, openIdentityFeatures } from './identity-features.ts'
import { wireIdentityProvider } from './idp-features.ts'
import { openNames } from './name-check.ts'
import { wireProfiles } from './profile-features.ts'
import { openProxyFeature, type ProxyFeature } from './proxy-features.ts'
import { wirePush } from './push-features.ts'
import { type AppEvent, reactionsOf } from './reactions.ts'
import { openRealtimeFeatures, type Realtime } from './realtime-features.ts'
import { openProviders, openRegistration, wireRegistration } from './registration-features.ts'
import { addRowSweeps } from './row-sweeps.ts'
import type { Services } from './services.ts'
import { signInParts, wireSignIn } from './sign-in-features.ts'
import { openTransferFeature } from './transfer-features.ts'
import { openProviderZones } from './zone-features.ts'

/** Every feature, wired with what it needs of others and with the reactions to its events. */
export interface Features {
  readonly identity: IdentityFeatures
  readonly endpoints: readonly Endpoint[]
  readonly hooks: Required<HttpHooks<HeldCredential>>
  /** Who may register on the host of a tenant; undefined where registration is closed. */
  findRegistration(tenant: Tenant): Promise<'open' | 'invite' | undefined>
  /** Does the tenant give names to others? */
  isProvider(tenant: Tenant): Promise<boolean>
  /** What the DNS says of the names that are given. */
  readonly zones: ProviderZones
  readonly bus: Bus
  readonly realtime: Realtime
  readonly proxy: ProxyFeature
  readonly gateway: Gateway
  close(): Promise<void>
}

/** Builds the features, left to right, and registers their jobs. */
export function openFeatures(opened: Services, addresses: Addresses, rateLimits: RateLimits): Features {
  const domainBlocks = openDomainBlocks(opened)
  const services = { ...opened, egress: guardEgress(opened.egress, domainBlocks) }
  const events = new Events<AppEvent>()
  const identity = openIdentityFeatures(services, { addresses, domainBlocks, emit: events.emit })
  const bus = openBusFeature(services, identity)
  const zones = react(services, { identity, bus, addresses, events })
  addRowSweeps(services)
  const realtime = openRealtimeFeatures(services, identity)
  const { files, apps, transfer, ports, telling } = openContent(services, identity, { addresses, realtime })
  const providers = openProviders(services, identity, addresses)
  const names = openNames(services, identity, { addresses, domainBlocks, providers })
  const idp = wireIdentityProvider(services, identity, { addresses, domainBlocks })
  const proxy = openProxyFeature(services, identity, addresses)
  const hooks = httpHooksOf(identity, idp, services)
  const gateway = openGatewayFeature(services, identity, { domainBlocks, rateLimits, hooks })
  return {
    identity,
    endpoints: [
      ...wireSignIn(signInParts(services, identity, { addresses, rateLimits, files })),
      ...wireRegistration(services, identity, { names, providers }),
      ...wireProfiles(services, identity, { addresses, ports, files, names }),
      ...files.wire(telling),
      ...wireActions(services, identity, ports),
      ...conversationEndpoints({ ...ports, emit: identity.emit }),
      ...apps.endpoints,
      ...wireFederation(services, identity, { addresses, domainBlocks, rateLimits, ports }),
      ...idp.endpoints,
      ...wirePush(services, identity, { addresses, bus }),
      ...settingEndpoints({ ...services, ...identity }),
      ...[proxy, transfer].flatMap(({ endpoints }) => endpoints),
    ],
    hooks,
    findRegistration: openRegistration(services, identity),
    isProvider: idp.isProvider,
    zones,
    bus,
    proxy,
    gateway: gateway.gateway,
    realtime: { routes: gateway.alsoAtOthers(realtime.routesTo(files.live)), settled: realtime.settled },
    close: () => closeInTurn({ transfer, proxy, gateway, realtime, bus, identity, files }),
  }
}

/** What people make and keep: files, the apps in them, and the actions that show them; and how they take it along. */
function openContent(
  services: Services,
  identity: IdentityFeatures,
  { addresses, realtime }: { addresses: Addresses; realtime: ReturnType<typeof openRealtimeFeatures> },
) {
  const files = openFileFeatures(services, fileParts(identity, addresses, realtime.contents))
  const apps = openAppFeature(services, identity, files)
  const ports = actionPorts(services, identity, { ...files.forActions, ...apps.forActions })
  const telling = fileTelling(ports, identity)
  addFileSweeps(services.jobs, { ...files.deps, ...telling })
  return { files, apps, transfer: openTransferFeature(services, identity), ports, telling }
}

function react(
  services: Services,
  {
    identity,
    bus,
    addresses,
    events,
  }: { identity: IdentityFeatures; bus: Bus; addresses: Addresses; events: Events<AppEvent> },
): ProviderZones {
  const zones = openProviderZones(services, identity, addresses)
  events.subscribe(reactionsOf(services, { identity, bus, zones }))
  return zones
}

interface Closable {
  close(): Promise<void>
}

async function closeInTurn(
  opened: Record<'transfer' | 'proxy' | 'gateway' | 'realtime' | 'bus' | 'files', Closable> &
    Pick<Features, 'identity'>,
): Promise<void> {
  const { transfer, proxy, gateway, realtime, bus, identity, files } = opened
  await transfer.close()
  await proxy.close()
  await gateway.close()
  await realtime.close()
  await bus.close()
  await identity.lastUse[Symbol.asyncDispose]()
  await files.close()
}
