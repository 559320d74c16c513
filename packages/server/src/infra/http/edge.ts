import type { IncomingMessage, ServerResponse } from 'node:http'
import { type LoopGuard, maxLoops } from '#infra/egress/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { AdmissionDeps } from './admission.ts'
import { type AnswerSite, answerFailure, answerJson, answerWhole, errorText } from './answer.ts'
import { preflightHeaders } from './cors.ts'
import { type Exchange, exchangeOf } from './exchange.ts'
import { type PeerReader, plainAddress, rateKeyOf } from './peer.ts'
import { takeGeneral } from './request-admission.ts'
import type { Router } from './router.ts'
import { normalizeTarget } from './target.ts'

interface EdgeDeps extends Pick<AdmissionDeps, 'rateLimits' | 'clock'> {
  readonly site: AnswerSite
  readonly router: Router
  readonly peerOf: PeerReader
  readonly isTrusted: (ip: string) => boolean
  /** Requests of one address that a trusted proxy may have under way here. */
  readonly maxUnderWay: number
  readonly loopGuard: LoopGuard | undefined
}

/** Answers every request of a server: by itself, or by the target at its path. */
export function createEdge(deps: EdgeDeps): (request: IncomingMessage, response: ServerResponse) => void {
  const { site, router, loopGuard, peerOf } = deps
  const underWay = new RequestsUnderWay(deps.maxUnderWay)
  const roundsOf = ({ headers }: IncomingMessage) => loopGuard?.countOf(headers.via) ?? 0
  const isFromProxy = ({ socket }: IncomingMessage) =>
    deps.isTrusted(plainAddress(socket.remoteAddress ?? ''))
  const serve = (exchange: Exchange) => {
    dropUnreadableType(exchange.request)
    const found = find(router, exchange.request)
    if (found === 'malformed') answerFailure(site, exchange, new Failure('E-VALIDATION'))
    else if (found) found.target.answer(exchange, found)
    else void answerUnrouted(deps, exchange)
  }
  return (request, response) => {
    const isNormal = normalizeTarget(request)
    const exchange = exchangeOf(request, response, peerOf(request))
    const before = roundsOf(request)
    if (!isNormal) answerFailure(site, exchange, new Failure('E-VALIDATION'), { connection: 'close' })
    else if (before >= maxLoops) answerLoop(site, exchange)
    else if (isFromProxy(request) && !underWay.enter(rateKeyOf(exchange.peer.ip), response))
      answerFailure(site, exchange, tooManyUnderWay(), { connection: 'close' })
    else if (request.method === 'OPTIONS') answerOptions(site, exchange, router)
    else if (loopGuard && before > 0) loopGuard.within(before, () => serve(exchange))
    else serve(exchange)
  }
}

/** The target at the path of a request. A POST may name another method, for clients whose proxies pass no other, where
 * the target allows it and has that method. */
function find(router: Router, request: IncomingMessage): ReturnType<Router['find']> {
  const meant = request.method === 'POST' && request.headers['x-http-method-override']
  if (typeof meant === 'string') {
    const found = router.find(meant.toUpperCase(), request.url)
    const own = found && found !== 'malformed' && found.target.overridesPost ? found.target.method : undefined
    if (own === meant.toUpperCase()) {
      request.method = own
      return found
    }
  }
  return router.find(request.method, request.url)
}

async function answerUnrouted({ site, router, ...deps }: EdgeDeps, exchange: Exchange): Promise<void> {
  try {
    await takeGeneral(deps, exchange, 'anonymous', rateKeyOf(exchange.peer.ip))
    const allowed = router.methodsOf(exchange.request.url)
    const isKnown = allowed.length > 0
    const headers = isKnown ? { allow: allowed.join(', ') } : {}
    answerFailure(site, exchange, new Failure(isKnown ? 'E-METHOD' : 'E-NOTFOUND'), headers)
  } catch (error) {
    answerFailure(site, exchange, error)
  }
}

const mediaTypeForm = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/

/** A header that is no media type is ignored. */
function dropUnreadableType({ headers }: IncomingMessage): void {
  const type = headers['content-type']
  if (type !== undefined && !mediaTypeForm.test(type)) delete headers['content-type']
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

function answerOptions(site: AnswerSite, exchange: Exchange, router: Router): void {
  const { request } = exchange
  if (site.corsOf && request.headers['access-control-request-method'] !== undefined) {
    answerWhole(site, exchange, { status: 204, headers: preflightHeaders(request) })
    return
  }
  const allowed = router.methodsOf(request.url)
  if (allowed.length === 0 && request.url !== '*') answerFailure(site, exchange, new Failure('E-NOTFOUND'))
  else {
    const headers = { ...router.headersOf(request.url), allow: [...allowed, 'OPTIONS'].join(', ') }
    answerWhole(site, exchange, { status: 204, headers })
  }
}
