import { passwordLink } from '#features/accounts/index.ts'
import { pageRoutes } from '#features/pages/index.ts'
import { ensureBaseTenant } from '#features/registration/index.ts'
import { guest } from '#infra/caller/index.ts'
import type { Config } from '#infra/config/index.ts'
import {
  createHttpServer,
  createMemoryRateLimits,
  defaultRateLimits,
  documentationRoutes,
  type HttpServer,
  openRedisRateLimits,
  type RateLimits,
} from '#infra/http/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import type { Sockets } from '#infra/ws/index.ts'
import { type Clock, systemClock } from '#lib/clock.ts'
import { type Addresses, openAddresses } from './addresses.ts'
import { openSocketServer } from './bus-features.ts'
import { type Features, openFeatures } from './features.ts'
import { metricsRoute, operationsRoutes } from './operations-routes.ts'
import { assertAllServed } from './served-tenants.ts'
import { openServices, type Services, type Surroundings } from './services.ts'
import { keepSetUpLink } from './set-up-link.ts'
import { version } from './version.ts'

/** A server that answers. */
export interface RunningServer {
  /** Where it listens, as an IP address. */
  readonly url: string
  readonly port: number
  readonly services: Services
  readonly features: Features
  readonly addresses: Addresses
  /** While the base tenant has no password: the page on which the person who runs the server sets it. */
  readonly setUpUrl: string | undefined
  /** Finishes what runs, at most ten seconds. */
  stop(): Promise<void>
}

/** Opens everything the configuration names, makes the base tenant on the first start, and listens. */
export async function startServer(
  config: Config,
  { clock = systemClock, ...given }: Omit<Surroundings, 'clock'> & { readonly clock?: Clock },
): Promise<RunningServer> {
  // Closes services in reverse order: when the start fails, or in `stop`.
  await using opened = new AsyncDisposableStack()
  const services = await openServices(config, { clock, ...given })
  opened.defer(() => services.close())
  const running = await listen(config, services, opened)
  const closing = opened.move()
  return { ...running, stop: () => closing.disposeAsync() }
}

async function listen(
  config: Config,
  services: Services,
  opened: AsyncDisposableStack,
): Promise<Omit<RunningServer, 'stop'>> {
  const { clock, logger, jobs } = services
  const addresses = openAddresses(config)
  const rateLimits = await openRateLimits(config, clock, logger)
  opened.defer(() => rateLimits.close())
  const features = openFeatures(services, addresses, rateLimits)
  opened.defer(() => features.close())
  const base = await ensureBaseTenant(
    { ...features.identity, ...features.identity.createTenant, db: services.db, vault: services.vault },
    { idTag: config.baseIdTag, password: config.basePassword?.reveal() },
  )
  await assertAllServed(config, features.identity.tenants)
  opened.defer(() => jobs.stop())
  const sockets = openSocketServer(services, { ...features, rateLimits })
  const http = openHttp(services, features, { rateLimits, sockets })
  const metricsHttp = await listenForMetrics(services, rateLimits)
  opened.defer(async () => {
    await Promise.all([http.stop(), metricsHttp?.stop(), sockets.stop()])
  })
  const { port, address } = await http.listen(config.listen)
  addresses.setPort(port)
  const setUpUrl = base.setUpRefId && passwordLink(addresses.serverUrl(config.baseIdTag), base.setUpRefId)
  await keepSetUpLink(config.dataDir, setUpUrl)
  await jobs.start()
  const host = address.includes(':') ? `[${address}]` : address
  return { url: `http://${host}:${port}`, port, services, features, addresses, setUpUrl }
}

function openHttp(
  services: Services,
  features: Features,
  { rateLimits, sockets }: { readonly rateLimits: RateLimits; readonly sockets: Sockets },
): HttpServer {
  const { config, clock, logger, metrics } = services
  const contracts = features.endpoints.map(({ contract }) => contract)
  return createHttpServer({
    endpoints: features.endpoints,
    rawRoutes: [
      ...sockets.rawRoutes,
      ...operationsRoutes(services),
      ...documentationRoutes({ contracts, title: 'Kith', version }),
      ...pageRoutes({
        findTenant: async (host) => features.hooks.findTenant(host),
        findRegistration: (tenant) => features.findRegistration(tenant),
        isProvider: (tenant) => features.isProvider(tenant),
      }),
    ],
    hooks: features.hooks,
    rateLimits,
    clock,
    logger,
    cors: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    connections: config.connections,
    loopGuard: services.loopGuard,
    observe: ({ endpoint, method, status, durationMs }) =>
      metrics.requestServed({ method, route: endpoint, status, durationMs }),
  })
}

/** A separate address for the metrics, which need not pass a proxy in front. */
async function listenForMetrics(services: Services, rateLimits: RateLimits): Promise<HttpServer | undefined> {
  const { config, clock, logger, metrics } = services
  if (!config.metricsListen) return undefined
  const http = createHttpServer({
    endpoints: [],
    rawRoutes: [metricsRoute(metrics, () => true)],
    hooks: { findTenant: () => undefined, authenticate: () => ({ caller: guest }) },
    rateLimits,
    clock,
    logger,
    cors: [],
    trustedProxies: [],
  })
  await http.listen(config.metricsListen)
  return http
}

async function openRateLimits(config: Config, clock: Clock, logger: Logger): Promise<RateLimits> {
  if (!config.redisUrl) return createMemoryRateLimits(clock, defaultRateLimits)
  return await openRedisRateLimits({
    redisUrl: config.redisUrl.reveal(),
    limits: defaultRateLimits,
    clock,
    logger,
  })
}
