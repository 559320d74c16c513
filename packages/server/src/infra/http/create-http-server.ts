import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gatewayPath } from '@kith/protocol'
import type { LoopGuard } from '#infra/egress/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import { Bag } from '#lib/bag.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type AccessLog, proxiedRoute } from './access-log.ts'
import { type AnswerSite, answerFailure, createIsoNow, type WholeAnswer } from './answer.ts'
import { type BodyBounds, BodyBudget, defaultBodyBounds } from './body-budget.ts'
import { type ConnectionBounds, ConnectionLimits, defaultConnectionBounds } from './connection-limits.ts'
import { type CorsOrigins, createCors } from './cors.ts'
import { createEdge } from './edge.ts'
import type { Endpoint } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { listen } from './listen.ts'
import { createNodeServer, type NodeServer } from './node-server.ts'
import { createPeerReader, createTrust } from './peer.ts'
import type { ProxiedHosts } from './proxied-hosts.ts'
import type { RateLimits } from './rate-limits.ts'
import { type RawRoute, type RawVisit, rawTarget } from './raw-route.ts'
import type { HttpHooks } from './request-admission.ts'
import { gatewayUrlsOf, type Route, routeOf } from './route.ts'
import { createRouter, type RawParameters, type Router, type Target } from './router.ts'
import { RunningReview } from './running-review.ts'
import type { OpenServer, SecureListening } from './secure-listening.ts'
import { type ServeDeps, serve } from './serve.ts'
import { serveGateway } from './serve-gateway.ts'
import { stopGracefully, trackSockets } from './stop.ts'
import { handUpgradesOver, isUpgrade } from './upgrades.ts'

export interface HttpServerOptions {
  readonly endpoints: readonly Endpoint[]
  readonly rawRoutes: readonly RawRoute[]
  readonly hooks: HttpHooks
  readonly rateLimits: RateLimits
  readonly clock: Clock
  readonly logger: Pick<Logger, 'debug' | 'warn' | 'error'>
  readonly cors: CorsOrigins
  /** Networks in CIDR form whose `X-Forwarded-*` headers count. */
  readonly trustedProxies: readonly string[]
  readonly connections?: ConnectionBounds
  readonly bodies?: BodyBounds
  /** Recognizes requests that this server itself has sent. */
  readonly loopGuard?: LoopGuard
  /** Hosts that others answer for. */
  readonly proxiedHosts?: ProxiedHosts | undefined
  /** With it the server speaks HTTP/2 and HTTP/1.1 over TLS; without, plain HTTP/1. */
  readonly secure?: SecureListening
  /** The page for people who open an address that has no route; they get JSON without it. */
  readonly absentPage?: (visit: RawVisit) => WholeAnswer
  /** With it the endpoints whose contract says `gateway` answer for other identities' hosts as well. */
  readonly gateway?: Gateway
  /** Answers what has no route. */
  readonly answerOthers?: (visit: RawVisit) => WholeAnswer
  readonly accessLog?: AccessLog | undefined
  /** Told of every answer to a route, when it is written: for metrics. */
  readonly observe?: (answered: Answered) => void
}

/** One answered request, without anything secret: no query, no bearer. */
export interface Answered {
  readonly endpoint: string
  readonly method: string
  readonly status: number
  readonly durationMs: number
  readonly requestId: string
  readonly ip: string
  readonly host: string | undefined
}

export interface HttpServer {
  readonly server: NodeServer
  /** Begins to accept connections; port 0 picks a free one. */
  listen(address: { readonly host: string; readonly port: number }): Promise<AddressInfo>
  /** Stops accepting and waits for running requests, at most ten seconds. */
  stop(): Promise<void>
}

/** Builds the server: routes from the contracts, nothing compiled yet, not listening yet. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { clock, logger, hooks, rateLimits } = options
  const stopped = new AbortController()
  let isStopping = false
  const site: AnswerSite = {
    clock,
    logger,
    corsOf: createCors(options.cors),
    isoNow: createIsoNow(clock),
    isStopping: () => isStopping,
  }
  const bodies = new BodyBudget(options.bodies ?? defaultBodyBounds)
  const running = new Bag<Exchange>()
  const deps: ServeDeps = { site, hooks, rateLimits, clock, bodies, running, stopped: stopped.signal }
  const router = createRouter([
    ...options.endpoints.flatMap((endpoint) => endpointTargets(deps, endpoint, options)),
    ...options.rawRoutes.map((route) => rawTarget(deps, route)),
  ])
  const { server, sessions } = openNodeServer(options, site, router)
  const sockets = trackSockets(server)
  const review = new RunningReview({ site, clock, hooks, running })
  return {
    server,
    async listen(address) {
      review.start()
      return await listen(server, address)
    },
    async stop() {
      isStopping = true
      await review.stop()
      sessions?.close()
      await stopGracefully(server, sockets, {
        clock,
        abort: () => stopped.abort(new Failure('E-UNAVAILABLE')),
        abortAfterMs: 5_000,
        destroyAfterMs: 10_000,
        answerRest: () => {
          for (const exchange of running) answerFailure(site, exchange, new Failure('E-UNAVAILABLE'))
        },
      })
    },
  }
}

function openNodeServer(options: HttpServerOptions, site: AnswerSite, router: Router): OpenServer {
  const { clock, hooks, rateLimits, loopGuard, proxiedHosts, secure } = options
  const { absentPage, answerOthers, observe, accessLog } = options
  const bounds = options.connections ?? defaultConnectionBounds
  const isTrusted = createTrust(options.trustedProxies)
  const peerOf = createPeerReader(options.trustedProxies)
  const shared = { router, peerOf, clock, loopGuard, proxiedHosts, accessLog }
  const edge = createEdge({
    ...shared,
    site,
    hooks,
    rateLimits,
    isTrusted,
    maxUnderWay: bounds.perAddress,
    absentPage,
    answerOthers,
    observeProxied: (exchange, startedAt) => observe?.(answeredOf(proxiedRoute, exchange, startedAt)),
  })
  const node = { clock, isUpgrade: (request: IncomingMessage) => isUpgrade(shared, request) }
  const opened = secure?.open(edge, node) ?? { server: createNodeServer(edge, node) }
  handUpgradesOver(opened.server, shared)
  new ConnectionLimits(bounds, isTrusted).watch(opened.server)
  return opened
}

interface Watched {
  readonly observe?: HttpServerOptions['observe'] | undefined
}

function endpointTargets(
  deps: ServeDeps,
  endpoint: Endpoint,
  { observe, gateway }: Watched & Pick<HttpServerOptions, 'gateway'>,
): Target[] {
  const route = routeOf(endpoint)
  const { contract } = route
  const own = targetOf(route, { ...contract, urls: route.urls, observe }, (exchange, raw) =>
    serve(deps, route, exchange, raw),
  )
  if (!gateway || !contract.gateway) return [own]
  const withGateway = { ...deps, gateway }
  const path = gatewayPath(contract.path, '{at}')
  const elsewhere = { name: `${contract.name}At`, path, urls: gatewayUrlsOf(route), observe }
  return [
    own,
    targetOf(route, elsewhere, (exchange, raw) => serveGateway(withGateway, { route, exchange, raw })),
  ]
}

function targetOf(
  { contract: { method, answerHeaders, overridesPost, feature } }: Route,
  {
    name,
    path,
    urls,
    observe,
  }: Pick<Target, 'urls'> & Watched & { readonly name: string; readonly path: string },
  answer: (exchange: Exchange, raw: RawParameters) => Promise<void>,
): Target {
  return {
    method,
    route: path,
    urls,
    headers: answerHeaders,
    overridesPost,
    feature,
    answer(exchange, raw) {
      const startedAt = performance.now()
      const served = answer(exchange, raw)
      if (observe) void served.then(() => observe(answeredOf(name, exchange, startedAt)))
    },
  }
}

function answeredOf(endpoint: string, exchange: Exchange, startedAt: number): Answered {
  const { request, response, requestId, peer } = exchange
  return {
    endpoint,
    method: request.method ?? '',
    status: response.statusCode,
    durationMs: performance.now() - startedAt,
    requestId,
    ip: peer.ip,
    host: peer.host,
  }
}
