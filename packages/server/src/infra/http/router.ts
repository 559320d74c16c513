import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import Fastify, { type FastifyInstance } from 'fastify'
import { Failure } from '#lib/failure.ts'
import { answerFailure, answerWhole } from './answer.ts'
import type { Edge } from './edge.ts'
import type { Exchange } from './exchange.ts'
import { createNodeServer, type UpgradeCheck } from './node-server.ts'
import { answerParserError } from './parser-error.ts'
import type { RawRoute } from './raw-route.ts'
import type { Route } from './route.ts'
import type { RawParameters } from './serve.ts'

/** The Fastify application, as far as it is ours. */
export type Router = FastifyInstance<Server, IncomingMessage, ServerResponse>

const maxParamLength = 4096

/** The router, with everything that Fastify would do beyond routing given to us. */
export function createRouter(edge: Edge, isUpgrade: UpgradeCheck): Router {
  const unrouted = (request: IncomingMessage, response: ServerResponse) => {
    void edge.answerUnrouted(request, response)
  }
  const app = Fastify<Server, IncomingMessage, ServerResponse>({
    exposeHeadRoutes: false,
    return503OnClosing: false,
    routerOptions: { maxParamLength },
    // Input and output are compiled by us, lazily; Fastify's compilers would be loaded at start and never used.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    serverFactory: (route) => createNodeServer(edge, { route, unrouted }, isUpgrade),
    clientErrorHandler: (error, socket) => answerParserError(error, socket, edge.site.clock),
    frameworkErrors(_error, request, reply) {
      reply.hijack()
      answerFailure(edge.site, edge.exchangeOf(request.raw, reply.raw), new Failure('E-VALIDATION'))
    },
  })
  // Bodies are read by us, after everything else has been checked.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.setNotFoundHandler((request, reply) => {
    reply.hijack()
    unrouted(request.raw, reply.raw)
  })
  app.setErrorHandler((error: { statusCode?: number }, request, reply) => {
    reply.hijack()
    const failure = error.statusCode === 415 ? new Failure('E-MEDIATYPE') : error
    if (failure === error) edge.site.logger.error({ err: error }, 'a request could not be routed')
    answerFailure(edge.site, edge.exchangeOf(request.raw, reply.raw), failure)
  })
  return app
}

function noCompiler(): never {
  throw new TypeError('contracts are not compiled by Fastify')
}

/** Serves the requests of a route. */
export type ServeRoute = (route: Route, exchange: Exchange, raw: RawParameters) => void

export function addRoute(app: Router, edge: Edge, route: Route, serve: ServeRoute): void {
  const { method } = route.contract
  for (const url of route.urls) {
    app.route({
      method: method === 'GET' ? ['GET', 'HEAD'] : method,
      url,
      handler(request, reply) {
        reply.hijack()
        const exchange = edge.exchangeOf(request.raw, reply.raw)
        serve(route, exchange, { params: valuesOf(request.params), query: valuesOf(request.query) })
      },
    })
  }
}

function valuesOf(parsed: unknown): Readonly<Record<string, unknown>> {
  return parsed as Readonly<Record<string, unknown>>
}

export function addRawRoute(app: Router, edge: Edge, route: RawRoute): void {
  app.route({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    async handler(request, reply) {
      reply.hijack()
      const exchange = edge.exchangeOf(request.raw, reply.raw)
      try {
        const { peer } = exchange
        const answer = await route.handle({
          request: request.raw,
          peer,
          params: valuesOf(request.params),
        })
        answerWhole(edge.site, exchange, answer)
      } catch (error) {
        edge.site.logger.error({ err: error, reqId: exchange.requestId }, 'a request failed unexpectedly')
        answerFailure(edge.site, exchange, error)
      }
    },
  })
}
