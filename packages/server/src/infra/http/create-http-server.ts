import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Rounds } from '#infra/egress/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { HttpHooks } from './admission.ts'
import { type AnswerSite, createIsoNow } from './answer.ts'
import { type BodyBounds, BodyBudget, defaultBodyBounds } from './body-budget.ts'
import { type ConnectionBounds, ConnectionLimits, defaultConnectionBounds } from './connection-limits.ts'
import { type CorsOrigins, createCors } from './cors.ts'
import { createEdge } from './edge.ts'
import type { Endpoint } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import type { HttpLogger } from './http-logger.ts'
import { createMethodOverride } from './method-override.ts'
import { createMethodTable } from './methods.ts'
import type { UpgradeCheck } from './node-server.ts'
import { createTrust } from './peer.ts'
import type { RateLimits } from './rate-limits.ts'
import type { RawRoute } from './raw-route.ts'
import { pathsOf, routeOf } from './route.ts'
import { addRawRoute, addRoute, createRouter } from './router.ts'
import { type ServeDeps, serve } from './serve.ts'
import { stopGracefully, trackSockets } from './stop.ts'

export interface HttpServerOptions {
  readonly endpoints: readonly Endpoint[]
  readonly rawRoutes: readonly RawRoute[]
  readonly hooks: HttpHooks
  readonly rateLimits: RateLimits
  readonly clock: Clock
  readonly logger: HttpLogger
  readonly cors: CorsOrigins
  /** Networks in CIDR form whose `X-Forwarded-*` headers count. */
  readonly trustedProxies: readonly string[]
  readonly connections?: ConnectionBounds
  readonly bodies?: BodyBounds
  /** Recognizes requests that this server itself has sent. */
  readonly rounds?: Rounds
  /** Which requests become `upgrade` events of `server`; none when absent. */
  readonly isUpgrade?: UpgradeCheck
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
  /** For WebSocket upgrades. */
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
  const edge = createEdge({
    site,
    rateLimits,
    clock,
    trustedProxies: options.trustedProxies,
    isTrusted,
    maxUnderWay: bounds.perAddress,
    rounds: options.rounds,
    overrideMethod: createMethodOverride(options.endpoints.map(({ contract }) => contract)),
    methods: createMethodTable([
      ...options.endpoints.map(({ contract }) => ({
        method: contract.method,
        paths: pathsOf(contract),
        headers: contract.answerHeaders,
      })),
      ...options.rawRoutes.map(({ method, path }) => ({ method, paths: [path] })),
    ]),
  })
  const app = createRouter(edge, options.isUpgrade ?? (() => false))
  new ConnectionLimits(bounds, isTrusted).watch(app.server)
  const sockets = trackSockets(app.server)
  const { observe } = options
  for (const endpoint of options.endpoints) {
    addRoute(app, edge, routeOf(endpoint), (route, exchange, raw) => {
      const startedAt = performance.now()
      const served = serve(deps, route, exchange, raw)
      if (observe) void served.then(() => observe(answeredOf(route.contract.name, exchange, startedAt)))
    })
  }
  for (const route of options.rawRoutes) addRawRoute(app, edge, route)
  return {
    server: app.server,
    async listen({ host, port }) {
      await app.listen({ host, port })
      return app.server.address() as AddressInfo
    },
    async stop() {
      isStopping = true
      await stopGracefully(app.server, sockets, {
        clock,
        abort: () => stopped.abort(),
        abortAfterMs: 5_000,
        destroyAfterMs: 10_000,
      })
      await app.close()
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
