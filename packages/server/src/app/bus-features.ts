import {
  type HeldCredential,
  listEnded,
  listEndedTenants,
  whenCredentialsEnd,
} from '#features/accounts/index.ts'
import { addBusSweep, type Bus, busRoute, openBus } from '#features/bus/index.ts'
import { listSuspendedOrBanned } from '#features/relations/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import type { HttpHooks, RateLimits } from '#infra/http/index.ts'
import { openSockets, type SocketRoute, type Sockets } from '#infra/ws/index.ts'
import { type IdentityFeatures, invalidationChannel } from './identity-features.ts'
import type { Services } from './services.ts'

/** The bus, on which clients hear what happens. */
export function openBusFeature(
  { db, clock, logger, jobs, nodeBus }: Services,
  { authenticator, settings }: IdentityFeatures,
): Bus {
  addBusSweep({ db, clock, jobs })
  const recall = (held: HeldCredential) => authenticator.recall(held)
  return openBus({ db, clock, logger, settings, recall, bus: nodeBus })
}

interface SocketParts {
  readonly identity: IdentityFeatures
  readonly bus: Bus
  readonly realtime: { readonly routes: readonly SocketRoute<HeldCredential>[] }
  readonly hooks: HttpHooks<HeldCredential>
  readonly rateLimits: RateLimits
}

/** Everything that is spoken over WebSockets. */
export function openSocketServer(
  { db, clock, logger, nodeBus }: Services,
  { identity, bus, realtime, hooks, rateLimits }: SocketParts,
): Sockets {
  const { tenants } = identity
  const reader = db.reader(serverTenant)
  const ended = { db, clock, tenants, listSuspendedOrBanned: listSuspendedOrBanned.bind(undefined, reader) }
  const sockets = openSockets<HeldCredential>({
    routes: [busRoute({ bus, clock }), ...realtime.routes],
    hooks: {
      ...hooks,
      listEnded: (held) => listEnded(ended, held),
      listEndedTenants: (tenantIds) => listEndedTenants(ended, tenantIds),
    },
    rateLimits,
    clock,
    logger,
  })
  nodeBus.subscribe(invalidationChannel, {
    onMessage: whenCredentialsEnd(() => void sockets.review()),
  })
  return sockets
}
