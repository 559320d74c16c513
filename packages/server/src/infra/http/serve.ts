import type { Contract } from '@kith/protocol'
import type { Bag } from '#lib/bag.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { hasCurrent } from '#lib/preconditions.ts'
import { type AnswerSite, answerBytes, answerFailure, answerJson, answerWhole } from './answer.ts'
import { bearerOf } from './bearer.ts'
import type { BodyBudget } from './body-budget.ts'
import { browserRequestOf } from './browser-request.ts'
import { openByteBody } from './byte-body.ts'
import { type Answer, type ByteReply, type Call, Reshaped } from './endpoint.ts'
import { askForBody, askForBodyWhenRead, type Exchange } from './exchange.ts'
import { readJson, readTokens } from './json-body.ts'
import { type CallInput, LiveCall } from './live-call.ts'
import { rateKeyOf } from './peer.ts'
import { admit, type RequestAdmissionDeps } from './request-admission.ts'
import type { InputReader } from './request-input.ts'
import { inputOf, type Route, renderAnswer } from './route.ts'
import type { RawParameters } from './router.ts'

/** What serves a route's requests. */
export interface ServeDeps extends RequestAdmissionDeps {
  readonly site: AnswerSite
  readonly bodies: BodyBudget
  /** The requests without a whole answer. Bound: the open connections, and the streams of each. */
  readonly running: Bag<Exchange>
  /** Aborted when the server no longer waits for running requests. */
  readonly stopped: AbortSignal
}

/** Takes one request through its life: admission, input, use case, answer. Never rejects. */
export async function serve(
  deps: ServeDeps,
  route: Route,
  exchange: Exchange,
  raw: RawParameters,
): Promise<void> {
  const { answerHeaders, queryToken } = route.contract
  if (answerHeaders) exchange.headers = answerHeaders
  await answering(deps, route, exchange, async () => {
    const bearer = bearerOf(exchange.request.headers, queryToken && raw.query.token)
    const browser = browserRequestOf(route.contract, exchange)
    const origin = { ...(await admit(deps, route.contract, exchange, bearer)), bearer, browser }
    const input = await readInput(deps, route, exchange, raw)
    const call = new LiveCall(exchange, deps.stopped, origin, input)
    return await route.handle(call as Call<Contract>)
  })
}

/** Writes what `answer` makes of a request, or the failure that it throws. Never rejects. */
export async function answering(
  deps: ServeDeps,
  route: Route,
  exchange: Exchange,
  answer: () => Promise<Answer<Contract>>,
): Promise<void> {
  deps.running.add(exchange)
  try {
    const given = await answer()
    if (!exchange.response.destroyed) await writeAnswer(deps, route, exchange, given)
  } catch (thrown) {
    const error = failureOf(thrown, deps.stopped)
    logFailure(deps.site, route.contract.name, exchange, error)
    answerFailure(deps.site, exchange, error)
  } finally {
    deps.running.delete(exchange)
  }
}

/** What a request throws that was asked to give up, since the server stops, is no bug: the next server may answer it. */
function failureOf(thrown: unknown, stopped: AbortSignal): unknown {
  return stopped.aborted && !(thrown instanceof Failure)
    ? new Failure('E-UNAVAILABLE', { cause: thrown })
    : thrown
}

/** The input of a request, checked against the contract of its route. */
export async function readInput(
  deps: ServeDeps,
  route: Route,
  exchange: Exchange,
  raw: RawParameters,
): Promise<CallInput> {
  const { contract, restParameter } = route
  const reader = inputOf(route)
  const { request } = exchange
  const params = reader.params(
    restParameter ? { ...raw.params, [restParameter]: raw.params['*'] } : raw.params,
  )
  if (request.url?.includes('%00')) throw invalid('', 'must not contain the character U+0000')
  const query = reader.query(raw.query)
  const headers = reader.headers(request.headers)
  if (!contract.body) return { params, query, headers, body: undefined }
  if (contract.body.kind === 'bytes') askForBodyWhenRead(exchange)
  else askForBody(exchange)
  const body = await readBody(deps, contract.body, exchange, reader)
  return { params, query, headers, body }
}

async function readBody(
  { clock, bodies }: ServeDeps,
  body: NonNullable<Contract['body']>,
  { request, peer }: Exchange,
  reader: InputReader,
): Promise<unknown> {
  const reading = { clock, budget: bodies, address: rateKeyOf(peer.ip) }
  switch (body.kind) {
    case 'bytes':
      return openByteBody(request, clock, {
        only: body.mediaType,
        isJsonInvalid: body.isJsonInvalid === true,
      })
    case 'jwt':
      return body.beside === undefined
        ? (await readTokens(request, reading)).token
        : readTokens(request, reading, body.beside)
    case 'json': {
      const parsed = await readJson(request, reading)
      return parsed === undefined && body.optional ? undefined : reader.body(parsed)
    }
  }
}

async function writeAnswer(
  { site }: ServeDeps,
  route: Route,
  exchange: Exchange,
  answer: Answer<Contract>,
): Promise<void> {
  const { reply } = route.contract
  if (reply.kind === 'bytes') return answerBytes(site, exchange, answer as ByteReply)
  if (reply.kind === 'empty') {
    const headers = answer instanceof Reshaped ? answer.headers : {}
    return answerWhole(site, exchange, { status: reply.status, headers })
  }
  const { status, headers, text } = renderAnswer(route, answer, site.isoNow(), exchange.requestId)
  const { etag } = headers
  const { method, headers: conditions } = exchange.request
  const isConditional = etag !== undefined && status === 200 && (method === 'GET' || method === 'HEAD')
  if (isConditional && hasCurrent(conditions, { etag })) {
    answerWhole(site, exchange, { status: 304, headers })
  } else answerJson(site, exchange, { status, headers, body: text })
}

/** Failures are expected, and logged only when something behind them is hidden from the caller, or, for finding faults, when a
 * credential or token was refused; anything else is a bug. When the client has gone, what breaks is a consequence. */
function logFailure({ logger }: AnswerSite, endpoint: string, exchange: Exchange, error: unknown): void {
  if (exchange.response.destroyed) return
  const fields = { err: error, endpoint, reqId: exchange.requestId }
  if (!(error instanceof Failure)) logger.error(fields, 'a request failed unexpectedly')
  else if (error.cause !== undefined) logger.warn(fields, 'a request failed')
  else if (error.details?.reason !== undefined) {
    const { err: _, ...where } = fields
    const { code, details, logged } = error
    logger.debug({ ...where, code, ...logged, details }, 'a request was refused')
  }
}
