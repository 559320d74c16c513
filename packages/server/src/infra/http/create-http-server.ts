import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { LoopGuard } from '#infra/egress/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import type { Clock } from '#lib/clock.ts'
import { type AnswerSite, createIsoNow } from './answer.ts'
import { type BodyBounds, BodyBudget, defaultBodyBounds } from './body-budget.ts'
import { type ConnectionBounds, ConnectionLimits, defaultConnectionBounds } from './connection-limits.ts'
import { type CorsOrigins, createCors } from './cors.ts'
import { createEdge } from './edge.ts'
import type { Endpoint } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import { listen } from './listen.ts'
import { createNodeServer } from './node-server.ts'
import { createPeerReader, createTrust } from './peer.ts'
import type { RateLimits } from './rate-limits.ts'
import { type RawRoute, rawTarget } from './raw-route.ts'
import type { HttpHooks } from './request-admission.ts'
import { routeOf } from './route.ts'
import { createRouter, type Target } from './router.ts'
import { type ServeDeps, serve } from './serve.ts'
import { stopGracefully, trackSockets } from './stop.ts'
import { handUpgradesOver, upgradeOf } from './upgrades.ts'

export interface HttpServerOptions {
  readonly endpoints: readonly Endpoint[]
  readonly rawRoutes: readonly RawRoute[]
  readonly hooks: HttpHooks
  readonly rateLimits: RateLimits
  readonly clock: Clock
  readonly logger: Pick<Logger, 'warn' | 'error'>
  readonly cors: CorsOrigins
  /** Networks in CIDR form whose `X-Forwarded-*` headers count. */
  readonly trustedProxies: readonly string[]
  readonly connections?: ConnectionBounds
  readonly bodies?: BodyBounds
  /** Recognizes requests that this server itself has sent. */
  readonly loopGuard?: LoopGuard
  /** Told of every answer to a route, when it is written: for metrics and the access log. */
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
  readonly server: Server
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
  const deps: ServeDeps = { site, hooks, rateLimits, clock, bodies, stopped: stopped.signal }
  const bounds = options.connections ?? defaultConnectionBounds
  const isTrusted = createTrust(options.trustedProxies)
  const router = createRouter([
    ...options.endpoints.map((endpoint) => endpointTarget(deps, endpoint, options.observe)),
    ...options.rawRoutes.map((route) => rawTarget(site, route)),
  ])
  const peerOf = createPeerReader(options.trustedProxies)
  const { loopGuard } = options
  const maxUnderWay = bounds.perAddress
  const edge = createEdge({ site, rateLimits, clock, router, peerOf, isTrusted, maxUnderWay, loopGuard })
  const server = createNodeServer(edge, {
    clock,
    isUpgrade: (request) => upgradeOf(router, request) !== undefined,
  })
  handUpgradesOver(server, { router, peerOf, clock })
  new ConnectionLimits(bounds, isTrusted).watch(server)
  const sockets = trackSockets(server)
  return {
    server,
    listen: (address) => listen(server, address),
    async stop() {
      isStopping = true
      await stopGracefully(server, sockets, {
        clock,
        abort: () => stopped.abort(),
        abortAfterMs: 5_000,
        destroyAfterMs: 10_000,
      })
    },
  }
}

function endpointTarget(deps: ServeDeps, endpoint: Endpoint, observe: HttpServerOptions['observe']): Target {
  const route = routeOf(endpoint)
  const { method, answerHeaders, overridesPost, name } = route.contract
  return {
    method,
    urls: route.urls,
    headers: answerHeaders,
    overridesPost,
    answer(exchange, raw) {
      const startedAt = performance.now()
      const served = serve(deps, route, exchange, raw)
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
