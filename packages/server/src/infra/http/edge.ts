import type { IncomingMessage, ServerResponse } from 'node:http'
import { type LoopGuard, maxLoops } from '#infra/egress/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type AccessLog, logWhenAnswered, proxiedRoute } from './access-log.ts'
import { type AdmissionDeps, isOfferedAt } from './admission.ts'
import {
  type AnswerSite,
  answerFailure,
  answerJson,
  answerWhole,
  errorText,
  type WholeAnswer,
} from './answer.ts'
import { preflightHeaders } from './cors.ts'
import { type Exchange, exchangeOf } from './exchange.ts'
import { type PeerReader, plainAddress, rateKeyOf } from './peer.ts'
import { type ProxiedHosts, proxiedHostOf, proxiedRequest } from './proxied-hosts.ts'
import type { RawVisit } from './raw-route.ts'
import { takeGeneral } from './request-admission.ts'
import type { Routed, Router } from './router.ts'
import { normalizeTarget } from './target.ts'

interface EdgeDeps extends AdmissionDeps {
  readonly site: AnswerSite
  readonly router: Router
  readonly peerOf: PeerReader
  readonly isTrusted: (ip: string) => boolean
  /** Requests of one address that may be under way here on connections with others: of a trusted proxy, or of HTTP/2. */
  readonly maxUnderWay: number
  readonly loopGuard: LoopGuard | undefined
  readonly proxiedHosts: ProxiedHosts | undefined
  readonly accessLog: AccessLog | undefined
  /** The page for people who open an address that has no target; JSON otherwise. */
  readonly absentPage: ((visit: RawVisit) => WholeAnswer) | undefined
  /** Answers what has no target. */
  readonly answerOthers: ((visit: RawVisit) => WholeAnswer) | undefined
  /** Told of a request that was passed on, when its answer has ended. */
  observeProxied(exchange: Exchange, startedAt: number): void
}

/** Answers every request of a server: by itself, or by the target at its path. */
export function createEdge(deps: EdgeDeps): (request: IncomingMessage, response: ServerResponse) => void {
  const { site, router, loopGuard, peerOf, accessLog } = deps
  const underWay = new RequestsUnderWay(deps.maxUnderWay)
  const roundsOf = ({ headers }: IncomingMessage) => loopGuard?.countOf(headers.via) ?? 0
  const sharesConnection = (request: IncomingMessage) =>
    request.httpVersionMajor === 2 || deps.isTrusted(plainAddress(request.socket.remoteAddress ?? ''))
  const serveOwn = (exchange: Exchange) => {
    dropUnreadableType(exchange.request)
    const found = find(router, exchange.request)
    if (found === 'malformed') answerFailure(site, exchange, new Failure('E-VALIDATION'))
    else if (found) answerAt(found, exchange)
    else if (deps.answerOthers) answerOther(site, exchange, deps.answerOthers)
    else void answerUnrouted(deps, exchange)
  }
  const serveAny = (exchange: Exchange, before: number) => {
    if (exchange.request.method === 'OPTIONS') answerOptions(site, exchange, router)
    else if (loopGuard && before > 0) loopGuard.within(before, () => serveOwn(exchange))
    else serveOwn(exchange)
  }
  return (request, response) => {
    const isNormal = normalizeTarget(request)
    const exchange = exchangeOf(request, response, peerOf(request))
    if (accessLog) logWhenAnswered(accessLog, exchange)
    const before = roundsOf(request)
    if (!isNormal) answerFailure(site, exchange, new Failure('E-VALIDATION'), { connection: 'close' })
    else if (before >= maxLoops) answerLoop(site, exchange)
    else if (sharesConnection(request) && !underWay.enter(rateKeyOf(exchange.peer.ip), response))
      answerFailure(site, exchange, tooManyUnderWay(), { connection: 'close' })
    else passOn(deps, exchange, () => serveAny(exchange, before))
  }
}

function answerAt(found: Routed, exchange: Exchange): void {
  exchange.route = found.target.route
  found.target.answer(exchange, found)
}

/** Passes a request on whose host is proxied; any other is the server's own. */
function passOn(deps: EdgeDeps, exchange: Exchange, serveOwn: () => void): void {
  const { proxiedHosts } = deps
  const host = proxiedHosts && proxiedHostOf(exchange.request, exchange.peer)
  const found = host === undefined ? undefined : proxiedHosts?.find(host)
  if (found === undefined) serveOwn()
  else void forward(deps, exchange, { found, serveOwn })
}

async function forward(
  { site, proxiedHosts, observeProxied }: EdgeDeps,
  exchange: Exchange,
  { found, serveOwn }: { readonly found: unknown; readonly serveOwn: () => void },
): Promise<void> {
  const startedAt = performance.now()
  try {
    const backend = await found
    if (backend === undefined) return serveOwn()
    exchange.route = proxiedRoute
    exchange.response.once('close', () => observeProxied(exchange, startedAt))
    await proxiedHosts?.forward(proxiedRequest(site, exchange), backend)
  } catch (error) {
    site.logger.error({ err: error, reqId: exchange.requestId }, 'a request could not be passed on')
    answerFailure(site, exchange, error)
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

function answerOther(site: AnswerSite, exchange: Exchange, answer: (visit: RawVisit) => WholeAnswer): void {
  const { request, peer } = exchange
  answerWhole(site, exchange, answer({ request, peer, params: {} }))
}

async function answerUnrouted(deps: EdgeDeps, exchange: Exchange): Promise<void> {
  const { site, absentPage } = deps
  try {
    await takeGeneral(deps, exchange, 'anonymous', rateKeyOf(exchange.peer.ip))
    const allowed = await methodsFor(deps, exchange)
    if (absentPage && allowed.length === 0 && isForPerson(exchange.request))
      return answerOther(site, exchange, absentPage)
    const isKnown = allowed.length > 0
    const headers = isKnown ? { allow: allowed.join(', ') } : {}
    answerFailure(site, exchange, new Failure(isKnown ? 'E-METHOD' : 'E-NOTFOUND'), headers)
  } catch (error) {
    answerFailure(site, exchange, error)
  }
}

/** The methods that an address takes: none where its tenant does not offer that part of the server. */
async function methodsFor(
  deps: Pick<EdgeDeps, 'router' | 'hooks'>,
  { request: { url }, peer }: Exchange,
): Promise<string[]> {
  const feature = deps.router.featureOf(url)
  const isThere = feature === undefined || (await isOfferedAt(deps, peer.host, feature))
  return isThere ? deps.router.methodsOf(url) : []
}

// What programs ask for answers JSON, whoever reads it.
const forPrograms = /^\/(?:api|ws|assets|\.well-known)(?:\/|$)/

/** Whether a browser asks for a page to show. */
function isForPerson({ method, url = '', headers }: IncomingMessage): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  return !forPrograms.test(url.split('?')[0] ?? '') && /\btext\/html\b/i.test(headers.accept ?? '')
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

// Counters of addresses that have nothing under way any more: kept, since the next request needs them again.
const maxIdleCounts = 1000

/** Counts what addresses have under way whose connections say nothing of it: a proxy's, and those of HTTP/2. */
class RequestsUnderWay {
  readonly #max: number
  // Bounded by the connections, by the streams of each, and by `maxIdleCounts`.
  readonly #counts = new Map<string, { requests: number }>()
  #idle = 0

  constructor(max: number) {
    this.#max = max
  }

  enter(key: string, response: ServerResponse): boolean {
    const count = this.#counts.get(key) ?? this.#newCount(key)
    if (count.requests >= this.#max) return false
    if (count.requests === 0) this.#idle -= 1
    count.requests += 1
    response.once('close', () => {
      count.requests -= 1
      if (count.requests > 0) return
      this.#idle += 1
      if (this.#idle > maxIdleCounts) this.#forgetIdle()
    })
    return true
  }

  #newCount(key: string): { requests: number } {
    const count = { requests: 0 }
    this.#counts.set(key, count)
    this.#idle += 1
    return count
  }

  #forgetIdle(): void {
    for (const [key, { requests }] of this.#counts) if (requests === 0) this.#counts.delete(key)
    this.#idle = 0
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
