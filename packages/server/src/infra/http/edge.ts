import type { IncomingMessage, ServerResponse } from 'node:http'
import { Failure } from '#lib/failure.ts'
import { type AdmissionDeps, takeGeneral } from './admission.ts'
import { type AnswerSite, answerFailure, answerWhole } from './answer.ts'
import { preflightHeaders } from './cors.ts'
import { type Exchange, requestIdOf } from './exchange.ts'
import type { MethodTable } from './methods.ts'
import { createPeerReader, rateKeyOf } from './peer.ts'
import { normalizeTarget } from './target.ts'

/** What happens to a request before, instead of or after routing. */
export interface Edge {
  readonly site: AnswerSite
  exchangeOf(request: IncomingMessage, response: ServerResponse): Exchange
  /** Answers what no route is needed for; true when it did. */
  intercept(request: IncomingMessage, response: ServerResponse): boolean
  /** Gives a request the method that it means, where that is not the one with which it came. */
  overrideMethod(request: IncomingMessage): void
  answerUnrouted(request: IncomingMessage, response: ServerResponse): Promise<void>
}

interface EdgeDeps extends Pick<AdmissionDeps, 'rateLimits' | 'clock'> {
  readonly site: AnswerSite
  readonly methods: MethodTable
  readonly overrideMethod: Edge['overrideMethod']
  readonly trustedProxies: readonly string[]
}

export function createEdge({ site, methods, overrideMethod, trustedProxies, ...deps }: EdgeDeps): Edge {
  const peerOf = createPeerReader(trustedProxies)
  const exchangeOf = (request: IncomingMessage, response: ServerResponse): Exchange => ({
    request,
    response,
    requestId: requestIdOf(request.headers['x-request-id']),
    peer: peerOf(request),
    verdict: undefined,
    headers: {},
    hasContinued: false,
  })
  return {
    site,
    exchangeOf,
    overrideMethod,
    intercept(request, response) {
      if (!normalizeTarget(request)) {
        answerFailure(site, exchangeOf(request, response), new Failure('E-VALIDATION'), {
          connection: 'close',
        })
        return true
      }
      if (request.method !== 'OPTIONS') return false
      answerOptions(site, exchangeOf(request, response), methods)
      return true
    },
    async answerUnrouted(request, response) {
      const exchange = exchangeOf(request, response)
      try {
        await takeGeneral(deps, exchange, 'anonymous', rateKeyOf(exchange.peer.ip))
        const allowed = methods.methodsOf(request.url ?? '')
        const isKnown = allowed.length > 0
        const headers = isKnown ? { allow: allowed.join(', ') } : {}
        answerFailure(site, exchange, new Failure(isKnown ? 'E-METHOD' : 'E-NOTFOUND'), headers)
      } catch (error) {
        answerFailure(site, exchange, error)
      }
    },
  }
}

function answerOptions(site: AnswerSite, exchange: Exchange, methods: MethodTable): void {
  const { request } = exchange
  if (site.corsOf && request.headers['access-control-request-method'] !== undefined) {
    answerWhole(site, exchange, { status: 204, headers: preflightHeaders(request) })
    return
  }
  const allowed = methods.methodsOf(request.url ?? '')
  if (allowed.length === 0 && request.url !== '*') answerFailure(site, exchange, new Failure('E-NOTFOUND'))
  else {
    const headers = { ...methods.headersOf(request.url ?? ''), allow: [...allowed, 'OPTIONS'].join(', ') }
    answerWhole(site, exchange, { status: 204, headers })
  }
}
