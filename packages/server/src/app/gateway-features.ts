import { type HeldCredential, listEnded, whenSessionsEnd } from '#features/accounts/index.ts'
import { type DomainBlocks, findServerUrl, guardEgress, guardWebSockets } from '#features/federation/index.ts'
import { findOwnerOfCopy } from '#features/files/index.ts'
import { gatewaySockets, OwnersGateway } from '#features/gateway/index.ts'
import { listSuspendedOrBanned } from '#features/relations/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { createEgress, webSocketOpener } from '#infra/egress/index.ts'
import type { HttpHooks, RateLimits } from '#infra/http/index.ts'
import { Relays, type SocketRoute } from '#infra/ws/index.ts'
import { type IdentityFeatures, invalidationChannel } from './identity-features.ts'
import type { Services } from './services.ts'
import { version } from './version.ts'

type Route = SocketRoute<HeldCredential>

interface GatewayParts {
  readonly domainBlocks: DomainBlocks
  readonly rateLimits: RateLimits
  readonly hooks: HttpHooks<HeldCredential>
}

/** The gateway to other identities' hosts, over connections of its own: what people look at takes nothing from deliveries. */
export function openGatewayFeature(
  { db, clock, config, dns, loopGuard, signingKeys: keys, nodeBus }: Services,
  { tenants, identities, findLifetimes }: IdentityFeatures,
  { domainBlocks, rateLimits, hooks }: GatewayParts,
) {
  const outside = {
    privateNetworks: config.federation.allowPrivateNetwork,
    resolver: dns,
    userAgent: `Kith/${version}`,
    loopGuard,
  }
  const [egress, byteEgress] = [createEgress(outside), createEgress(outside)]
  const gateway = new OwnersGateway({
    ...{ db, clock, keys, tenants, findLifetimes },
    egress: guardEgress(egress, domainBlocks),
    byteEgress: guardEgress(byteEgress, domainBlocks),
    isDomainBlocked: (idTag) => domainBlocks.isBlocked(idTag),
    findServerUrl: (idTag, owner) => findServerUrl(identities, idTag, owner),
  })
  nodeBus.subscribe(invalidationChannel, {
    onMessage: whenSessionsEnd((tenantId, sid) => gateway.forgetSession(tenantId, sid)),
  })
  const reader = db.reader(serverTenant)
  const ended = { db, clock, tenants, listSuspendedOrBanned: listSuspendedOrBanned.bind(undefined, reader) }
  const sockets = {
    ...{ gateway, relays: new Relays(clock), clock, rateLimits, hooks },
    openWebSocket: guardWebSockets(webSocketOpener(outside), domainBlocks),
    listEnded: (held: readonly HeldCredential[]) => listEnded(ended, held),
    findOwnerOfCopy: ({ tenantId }: Tenant, fileId: string) => findOwnerOfCopy(db.reader(tenantId), fileId),
  }
  return {
    gateway,
    /** These routes, and those of them that the gateway has. */
    alsoAtOthers: (routes: readonly Route[]): Route[] => [...routes, ...gatewaySockets(sockets, routes)],
    async close() {
      await Promise.all([egress.close(), byteEgress.close()])
    },
  }
}
