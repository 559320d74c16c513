import type { IncomingMessage, ServerResponse } from 'node:http'
import { maxRounds, type Rounds } from '#infra/egress/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type AdmissionDeps, takeGeneral } from './admission.ts'
import { type AnswerSite, answerFailure, answerJson, answerWhole, errorText } from './answer.ts'
import { preflightHeaders } from './cors.ts'
import { type Exchange, requestIdOf } from './exchange.ts'
import type { MethodTable } from './methods.ts'
import { createPeerReader, plainAddress, rateKeyOf } from './peer.ts'
import { normalizeTarget } from './target.ts'

/** What happens to a request before, instead of or after routing. */
export interface Edge {
  readonly site: AnswerSite
  exchangeOf(request: IncomingMessage, response: ServerResponse): Exchange
  /** Answers what no route is needed for; true when it did. */
  intercept(request: IncomingMessage, response: ServerResponse): boolean
  /** Gives a request the method that it means, where that is not the one with which it came. */
  overrideMethod(request: IncomingMessage): void
  /** Runs what serves a request; what that sends is known when it comes back. */
  run(request: IncomingMessage, work: () => void): void
  answerUnrouted(request: IncomingMessage, response: ServerResponse): Promise<void>
}

interface EdgeDeps extends Pick<AdmissionDeps, 'rateLimits' | 'clock'> {
  readonly site: AnswerSite
  readonly methods: MethodTable
  readonly overrideMethod: Edge['overrideMethod']
  readonly trustedProxies: readonly string[]
  readonly isTrusted: (ip: string) => boolean
  /** Requests of one address that a trusted proxy may have under way here. */
  readonly maxUnderWay: number
  readonly rounds: Rounds | undefined
}

export function createEdge({ site, methods, overrideMethod, rounds, ...deps }: EdgeDeps): Edge {
  const peerOf = createPeerReader(deps.trustedProxies)
  const underWay = new RequestsUnderWay(deps.maxUnderWay)
  const roundsOf = ({ headers }: IncomingMessage) => rounds?.countOf(headers.via) ?? 0
  const isFromProxy = ({ socket }: IncomingMessage) =>
    deps.isTrusted(plainAddress(socket.remoteAddress ?? ''))
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
    run(request, work) {
      const before = roundsOf(request)
      if (rounds && before > 0) rounds.within(before, work)
      else work()
    },
    intercept(request, response) {
      if (!normalizeTarget(request)) {
        answerFailure(site, exchangeOf(request, response), new Failure('E-VALIDATION'), {
          connection: 'close',
        })
        return true
      }
      if (roundsOf(request) >= maxRounds) {
        answerLoop(site, exchangeOf(request, response))
        return true
      }
      if (isFromProxy(request) && !underWay.enter(rateKeyOf(peerOf(request).ip), response)) {
        answerFailure(site, exchangeOf(request, response), tooManyUnderWay(), { connection: 'close' })
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

const loopDetected = 508

function answerLoop(site: AnswerSite, exchange: Exchange): void {
  const failure = new Failure('E-UNAVAILABLE', { message: 'This request goes round in circles.' })
  const body = errorText(failure, nowSecs(site.clock), exchange.requestId)
  answerJson(site, exchange, { status: loopDetected, headers: { connection: 'close' }, body })
}

const tooManyUnderWay = () => new Failure('E-UNAVAILABLE', { retryAfterSecs: 5 })

/** Counts what addresses behind trusted proxies have under way: their connections are the proxy's. */
class RequestsUnderWay {
  readonly #max: number
  // Bounded by the connections of the proxies.
  readonly #counts = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  enter(key: string, response: ServerResponse): boolean {
    const count = this.#counts.get(key) ?? 0
    if (count >= this.#max) return false
    this.#counts.set(key, count + 1)
    response.once('close', () => {
      const left = (this.#counts.get(key) ?? 1) - 1
      if (left > 0) this.#counts.set(key, left)
      else this.#counts.delete(key)
    })
    return true
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
