import { join } from 'node:path'
import type { IdTag } from '@kith/protocol'
import { openEmailLinks, passwordLink } from '#features/accounts/index.ts'
import { reportSockets } from '#features/admin/index.ts'
import { findThumbhash } from '#features/files/index.ts'
import { absentPage, pageLanguage, pageRoutes } from '#features/pages/index.ts'
import { ensureBaseTenant } from '#features/registration/index.ts'
import { appForReturning, appPaths, openWebApp, type WebApp, webAppRoutes } from '#features/web-app/index.ts'
import { guest, type Tenant } from '#infra/caller/index.ts'
import { type Config, servedAddressOf } from '#infra/config/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { type DnsServer, openDnsServer } from '#infra/dns-server/index.ts'
import {
  type AccessLog,
  createHttpServer,
  createMemoryRateLimits,
  defaultRateLimits,
  documentationRoutes,
  type HttpServer,
  openRedisRateLimits,
  type RateLimits,
  type RawRoute,
  redirectToHttps,
} from '#infra/http/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import type { Sockets } from '#infra/ws/index.ts'
import { type Clock, systemClock } from '#lib/clock.ts'
import { type Addresses, openAddresses } from './addresses.ts'
import { openSocketServer } from './bus-features.ts'
import { type Features, openFeatures } from './features.ts'
import { lockDataDir } from './lock-data-dir.ts'
import { metricsRoute, operationsRoutes } from './operations-routes.ts'
import { publicContentOf } from './public-content.ts'
import { assertAllServed } from './served-tenants.ts'
import { openServices, type Services, type Surroundings } from './services.ts'
import { keepSetUpLink } from './set-up-link.ts'
import { findSmtpUrl } from './settings-mailer.ts'
import { openTls, type Tls } from './tls.ts'
import { version } from './version.ts'

/** A server that answers. */
export interface RunningServer {
  /** Where it listens, as an IP address. */
  readonly url: string
  readonly port: number
  /** Where it sends to https, where it ends TLS itself. */
  readonly plainPort: number | undefined
  /** Where it answers DNS, if it does. */
  readonly dns: DnsServer | undefined
  readonly services: Services
  readonly features: Features
  readonly addresses: Addresses
  /** While the base tenant has no password: the page on which the person who runs the server sets it. */
  readonly setUpUrl: string | undefined
  /** Whether it serves the web app. */
  readonly hasWebApp: boolean
  /** Reads the certificate of the operator anew, where there is one. */
  reloadCertificates(): Promise<void>
  /** Finishes what runs, at most ten seconds. */
  stop(): Promise<void>
}

interface StartOptions {
  readonly clock?: Clock
  /** The folder with the build of the web app; without one none is served. */
  readonly webBuild?: string | undefined
}

/** Opens everything the configuration names, makes the base tenant on the first start, and listens. */
export async function startServer(
  config: Config,
  { clock = systemClock, webBuild, ...given }: Omit<Surroundings, 'clock'> & StartOptions,
): Promise<RunningServer> {
  // Closes services in reverse order: when the start fails, or in `stop`.
  await using opened = new AsyncDisposableStack()
  const lock = await lockDataDir(config, clock)
  opened.defer(() => lock.close())
  const services = await openServices(config, { clock, ...given, ...lock })
  opened.defer(() => services.close())
  const webApp = await findWebApp(services, webBuild)
  const running = await listen(config, services, { opened, webApp })
  await lock.announce(running.url)
  const closing = opened.move()
  return { ...running, stop: () => closing.disposeAsync() }
}

async function listen(
  config: Config,
  services: Services,
  { opened, webApp }: { opened: AsyncDisposableStack; webApp: WebApp | undefined },
): Promise<Omit<RunningServer, 'stop'>> {
  const { clock, logger, jobs } = services
  const addresses = openAddresses(config)
  const rateLimits = await openRateLimits(config, clock, logger)
  opened.defer(() => rateLimits.close())
  const features = openFeatures(services, addresses, rateLimits)
  opened.defer(() => features.close())
  const base = await ensureBase(services, features)
  await assertAllServed(config, features.identity.tenants)
  await features.proxy.sites.refresh()
  opened.defer(() => jobs.stop())
  const sockets = openSocketServer(services, { ...features, rateLimits })
  opened.defer(countSockets(services, sockets))
  const tls = await openTls(services, features, addresses)
  opened.defer(() => tls?.close())
  const http = openHttp(services, features, { addresses, rateLimits, sockets, tls, webApp })
  const plainHttp = tls && openPlainHttp(services, { rateLimits, tls, addresses })
  const metricsHttp = await listenForMetrics(services, rateLimits)
  opened.defer(async () => {
    await Promise.all([http, plainHttp, metricsHttp, sockets, features.proxy.proxy].map((one) => one?.stop()))
  })
  const { port, address } = await http.listen(servedAddressOf(config))
  const plain = await plainHttp?.listen(config.listen)
  addresses.setPort(port, plain ? [plain.port] : [])
  const dns = await listenForDns(services, features)
  opened.defer(() => dns?.close())
  const setUpUrl = base.setUpRefId && passwordLink(addresses.serverUrl(config.baseIdTag), base.setUpRefId)
  await keepSetUpLink(config.dataDir, setUpUrl)
  await tls?.start()
  await jobs.start()
  return {
    url: urlOf(tls ? 'https' : 'http', address, port),
    port,
    plainPort: plain?.port,
    dns,
    services,
    features,
    addresses,
    setUpUrl,
    hasWebApp: webApp !== undefined,
    reloadCertificates: async () => await tls?.reload(),
  }
}

/** Has the open sockets of this process counted, until the returned function is called. */
function countSockets(services: Services, sockets: Pick<Sockets, 'size'>): () => Promise<void> {
  const count = () => sockets.size
  services.metrics.followSockets(count)
  return reportSockets({ ...services, count })
}

async function ensureBase({ config, db, vault, logger }: Services, { identity }: Features) {
  const { baseIdTag: idTag, basePassword } = config
  const deps = { ...identity, ...identity.createTenant, db, vault }
  const base = await ensureBaseTenant(deps, { idTag, password: basePassword?.reveal() })
  if (base.isPasswordIgnored)
    logger.info(
      { idTag },
      'BASE_PASSWORD is ignored: the base tenant has a password already, which `kith tenant password` changes',
    )
  return base
}

function urlOf(scheme: string, address: string, port: number): string {
  return `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}`
}

function openHttp(
  services: Services,
  features: Features,
  {
    addresses,
    rateLimits,
    sockets,
    tls,
    webApp,
  }: {
    readonly addresses: Addresses
    readonly rateLimits: RateLimits
    readonly sockets: Sockets
    readonly tls: Tls | undefined
    readonly webApp: WebApp | undefined
  },
): HttpServer {
  const { config, clock, logger, metrics } = services
  const contracts = features.endpoints.map(({ contract }) => contract)
  return createHttpServer({
    endpoints: features.endpoints,
    rawRoutes: [
      ...sockets.rawRoutes,
      ...operationsRoutes(services),
      ...(tls?.rawRoutes ?? []),
      ...documentationRoutes({ contracts, title: 'Kith', version }),
      ...pagesOf(services, features, { addresses, rateLimits, webApp }),
    ],
    absentPage,
    hooks: features.hooks,
    rateLimits,
    clock,
    logger,
    cors: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    connections: config.connections,
    loopGuard: services.loopGuard,
    proxiedHosts: features.proxy.proxy,
    gateway: features.gateway,
    ...(tls ? { secure: tls.listening } : {}),
    accessLog: accessLogOf(services),
    observe: ({ endpoint, method, status, durationMs }) =>
      metrics.requestServed({ method, route: endpoint, status, durationMs }),
  })
}

/** The pages that the server makes, and the web app where it is built. */
function pagesOf(
  services: Services,
  features: Features,
  { addresses, rateLimits, webApp: app }: Shown,
): readonly RawRoute[] {
  const content = publicContentOf(services)
  const hosts = {
    findTenant: async (host: string) => features.hooks.findTenant(host),
    serverUrlOf: ({ idTag }: Tenant) => addresses.serverUrl(idTag),
  }
  const pages = {
    ...hosts,
    findRegistration: (tenant: Tenant) => features.findRegistration(tenant),
    findOpenRegistration: async () => {
      const base = await features.identity.tenants.base()
      const isOpen = (await features.findRegistration(base)) === 'open'
      return isOpen ? `${addresses.serverUrl(base.idTag)}/register` : undefined
    },
    findCommunityCreation: () => features.identity.settings.find(serverTenant, 'community.creation'),
    areMailsKept: async () =>
      !services.config.mail.smtpUrl && (await findSmtpUrl(features.identity.settings)) === undefined,
    isProvider: (tenant: Tenant) => features.isProvider(tenant),
    findServer: async (idTag: IdTag) => {
      const tenant = await hosts.findTenant(idTag)
      // A host that is nobody's may lead to the tenant that the operator has named for these.
      const isHere = tenant?.idTag === idTag
      return isHere ? addresses.serverUrl(idTag) : services.config.federation.identityHosts.get(idTag)
    },
    content,
    emailLinks: openEmailLinks({ ...services, ...features.identity, rateLimits }),
  }
  if (!app) return pageRoutes(pages)
  const findLikeness = ({ tenantId }: Tenant, fileId: string) =>
    findThumbhash(services.db.reader(tenantId), fileId)
  const { findOwner } = content
  const ofApp = {
    ...hosts,
    app,
    absentPage,
    languageOf: pageLanguage,
    findOwner,
    findThumbhash: findLikeness,
  }
  return [
    ...webAppRoutes(ofApp),
    ...pageRoutes({
      ...pages,
      webApp: { paths: appPaths, answerReturning: (visit, tenant) => appForReturning(ofApp, visit, tenant) },
    }),
  ]
}

interface Shown {
  readonly addresses: Addresses
  readonly rateLimits: RateLimits
  readonly webApp: WebApp | undefined
}

async function findWebApp(
  { config, clock, logger }: Services,
  dist: string | undefined,
): Promise<WebApp | undefined> {
  if (dist === undefined) return undefined
  return await openWebApp({ dist, home: join(config.dataDir, 'web'), clock, logger })
}

/** Without TLS only authorities and health checks are answered; everybody else is sent to https. */
function openPlainHttp(
  services: Services,
  { rateLimits, tls, addresses }: { rateLimits: RateLimits; tls: Tls; addresses: Addresses },
): HttpServer {
  const { config, clock, logger } = services
  return createHttpServer({
    ...withoutTenants,
    rawRoutes: [...operationsRoutes(services), ...tls.rawRoutes],
    rateLimits,
    clock,
    logger,
    trustedProxies: config.trustedProxies,
    connections: config.connections,
    accessLog: accessLogOf(services),
    answerOthers: (visit) => redirectToHttps(visit, new URL(addresses.serverUrl(config.baseIdTag)).port),
  })
}

/** Below the level `debug` nothing is even prepared. */
function accessLogOf({ config, logger }: Services): AccessLog | undefined {
  const isOn = config.log.level === 'debug' || config.log.level === 'trace'
  return isOn ? (entry) => logger.debug(entry, 'request answered') : undefined
}

const withoutTenants = {
  endpoints: [],
  hooks: { findTenant: () => undefined, authenticate: () => ({ caller: guest }) },
  cors: [],
}

/** A separate address for the metrics, which need not pass a proxy in front. */
async function listenForMetrics(services: Services, rateLimits: RateLimits): Promise<HttpServer | undefined> {
  const { config, clock, logger, metrics, loopGuard } = services
  if (!config.metricsListen) return undefined
  const http = createHttpServer({
    ...withoutTenants,
    // Who may read is decided by who reaches the address, which strangers do not through a proxy site.
    rawRoutes: [metricsRoute(metrics, ({ request }) => loopGuard.countOf(request.headers.via) === 0)],
    rateLimits,
    clock,
    logger,
    trustedProxies: [],
  })
  await http.listen(config.metricsListen)
  return http
}

/** Answers for the zones where `DNS_LISTEN` says. */
async function listenForDns(
  { config, clock, logger, metrics }: Services,
  { zones }: Pick<Features, 'zones'>,
): Promise<DnsServer | undefined> {
  const { dnsListen: listen } = config.federation
  if (listen.length === 0) return undefined
  await zones.noteStart().catch((error) => logger.warn({ err: error }, 'secondaries may keep old zones'))
  const observers = { observe: metrics.dnsAnswered, observeLimited: metrics.dnsLimited }
  const server = await openDnsServer({ listen, zones, clock, logger, ...observers })
  for (const { host, port } of server.addresses) logger.info({ host, port }, 'answering DNS')
  return server
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
