import { type HeldCredential, whenCredentialsEnd } from '#features/accounts/index.ts'
import { addBusSweep, type Bus, busRoute, openBus } from '#features/bus/index.ts'
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
  readonly bus: Bus
  readonly realtime: { readonly routes: readonly SocketRoute<HeldCredential>[] }
  readonly hooks: Required<HttpHooks<HeldCredential>>
  readonly rateLimits: RateLimits
}

/** Everything that is spoken over WebSockets. */
export function openSocketServer(
  { clock, logger, nodeBus }: Services,
  { bus, realtime, hooks, rateLimits }: SocketParts,
): Sockets {
  const sockets = openSockets<HeldCredential>({
    routes: [busRoute({ bus, clock }), ...realtime.routes],
    hooks,
    rateLimits,
    clock,
    logger,
  })
  nodeBus.subscribe(invalidationChannel, {
    onMessage: whenCredentialsEnd(() => void sockets.review()),
  })
  return sockets
}
