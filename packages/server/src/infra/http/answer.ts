import type { IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream'
import { errorStatus } from '@kith/protocol'
import type { Logger } from '#infra/telemetry/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { createCors } from './cors.ts'
import type { ByteReply } from './endpoint.ts'
import { exactLength } from './exact-length.ts'
import { type Exchange, waitsWithBody } from './exchange.ts'
import { hasBody } from './json-body.ts'
import type { RateVerdict } from './rate-limits.ts'

/** What all answers of a server have in common. */
export interface AnswerSite {
  readonly clock: Clock
  readonly logger: Pick<Logger, 'debug' | 'warn' | 'error'>
  readonly corsOf: ReturnType<typeof createCors>
  /** The time as ISO 8601, as envelopes have it. */
  isoNow(): string
  /** Whether connections should end with their answer. */
  isStopping(): boolean
}

/** Formats each millisecond once: a busy server answers many requests in one. */
export function createIsoNow(clock: Clock): () => string {
  let formattedMs = Number.NaN
  let text = ''
  return () => {
    const nowMs = clock.now()
    if (nowMs !== formattedMs) {
      formattedMs = nowMs
      text = new Date(nowMs).toISOString()
    }
    return text
  }
}

type Headers = Readonly<Record<string, string>>

/** An answer whose body is in memory. */
export interface WholeAnswer {
  readonly status: number
  readonly headers?: Headers
  readonly body?: string | Uint8Array
}

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }
const hsts = 'max-age=31536000'

/** Writes an answer from memory; HEAD gets its headers alone. */
export function answerWhole(site: AnswerSite, exchange: Exchange, answer: WholeAnswer): void {
  const { body, headers = {} } = answer
  if (body === undefined) writeHead(site, exchange, answer.status, headers)
  else {
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
    writeHead(site, exchange, answer.status, { ...headers, 'content-length': String(length) })
  }
  exchange.response.end(body)
  discardRest(exchange.request, site.clock)
}

/** Writes JSON text. */
export function answerJson(site: AnswerSite, exchange: Exchange, answer: WholeAnswer): void {
  answerWhole(site, exchange, { ...answer, headers: { ...jsonHeaders, ...answer.headers } })
}

/** Streams bytes. The source is opened for GET alone, and closed when the client goes away. */
export async function answerBytes(site: AnswerSite, exchange: Exchange, reply: ByteReply): Promise<void> {
  const { request, response } = exchange
  const hasContent = request.method !== 'HEAD' && reply.status !== 304
  const stream = hasContent ? await reply.body?.() : undefined
  if (!stream || response.destroyed) {
    stream?.destroy()
    answerWhole(site, exchange, { status: reply.status, headers: reply.headers })
    return
  }
  try {
    writeHead(site, exchange, reply.status, reply.headers)
  } catch (error) {
    stream.destroy()
    throw error
  }
  await new Promise<void>((resolve) => {
    // When either side fails the other is destroyed, so that the client does not take a part for the whole.
    const announced = reply.headers['content-length']
    const parts = announced === undefined ? [stream] : [stream, exactLength(Number(announced))]
    pipeline([...parts, response], (error) => {
      if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') {
        site.logger.error({ err: error, reqId: exchange.requestId }, 'an answer broke off')
      }
      resolve()
    })
  })
  discardRest(request, site.clock)
}

/** Writes the error envelope: code and message of a `Failure`; of anything else only that something went wrong. */
export function answerFailure(
  site: AnswerSite,
  exchange: Exchange,
  error: unknown,
  headers: Headers = {},
): void {
  const { response, requestId } = exchange
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const failure = error instanceof Failure ? error : new Failure('E-INTERNAL')
  const refusing = verdictOf(failure, nowSecs(site.clock))
  if (refusing) exchange.verdict = refusing
  try {
    answerJson(site, exchange, {
      status: failure.status ?? errorStatus[failure.code],
      headers: { ...headers, ...headersOf(failure) },
      body: errorText(failure, nowSecs(site.clock), requestId),
    })
  } catch (unwritable) {
    site.logger.error({ err: unwritable, reqId: requestId }, 'a failure could not be answered')
    response.destroy()
  }
}

/** The headers show the bucket that refused, whichever it was. */
function verdictOf({ limit, retryAfterSecs }: Failure, now: number): RateVerdict | undefined {
  if (limit === undefined || retryAfterSecs === undefined) return undefined
  return { isAllowed: false, limit, remaining: 0, resetAtSecs: now + retryAfterSecs }
}

/** The headers that HTTP requires with some failures. */
function headersOf({ code, details, retryAfterSecs }: Failure): Headers {
  const size = code === 'E-RANGE' ? details?.size : undefined
  return {
    ...(code === 'E-AUTH-UNAUTH' ? { 'www-authenticate': 'Bearer' } : {}),
    ...(typeof size === 'number' ? { 'content-range': `bytes */${size}` } : {}),
    ...(retryAfterSecs === undefined ? {} : { 'retry-after': String(retryAfterSecs) }),
  }
}

/** The JSON text of the error envelope. */
export function errorText({ code, message, details }: Failure, time: number, reqId: string): string {
  return JSON.stringify({ error: { code, message, details }, time, reqId })
}

function writeHead(site: AnswerSite, exchange: Exchange, status: number, own: Headers): void {
  const { request, response, verdict } = exchange
  // What is for pages of every origin says so itself.
  const isOpen = exchange.headers['access-control-allow-origin'] !== undefined
  const cors = isOpen ? undefined : site.corsOf?.(request.headers.origin)
  const headers: Record<string, string | number> = {
    ...exchange.headers,
    ...own,
    ...cors,
    'x-request-id': exchange.requestId,
    'x-content-type-options': 'nosniff',
    'referrer-policy': own['referrer-policy'] ?? 'strict-origin-when-cross-origin',
  }
  if (cors && own.vary !== undefined) headers.vary = withOrigin(own.vary)
  if (exchange.peer.isSecure) headers['strict-transport-security'] = hsts
  if (verdict) {
    headers['x-ratelimit-limit'] = verdict.limit
    headers['x-ratelimit-remaining'] = verdict.remaining
    headers['x-ratelimit-reset'] = verdict.resetAtSecs
  }
  if (site.isStopping() || isBodyOwed(exchange)) headers.connection = 'close'
  response.writeHead(status, headers)
}

const withOrigin = (vary: string) => (/\borigin\b/i.test(vary) ? vary : `${vary}, Origin`)

/** A client that waits for `100 Continue` and gets an answer instead may still send its body: the server cannot tell where
 * the next request begins. */
function isBodyOwed({ request, hasContinued }: Exchange): boolean {
  return !hasContinued && waitsWithBody(request) && hasBody(request)
}

const discardForMs = 5_000

/** What is left of a body after its answer is thrown away for a while, so that the client can finish sending and read
 * the answer; then the connection ends. */
export function discardRest(request: IncomingMessage, clock: Clock): void {
  if (request.complete || request.destroyed || !hasBody(request)) return
  request.unpipe()
  request.on('error', () => {})
  request.resume()
  const cancel = clock.wakeAt(clock.now() + discardForMs, () => request.socket.destroy())
  request.once('end', cancel).once('close', cancel)
}
