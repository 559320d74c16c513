import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Tenant } from '#infra/caller/index.ts'
import type { BagMember } from '#lib/bag.ts'
import type { Peer } from './peer.ts'
import type { RateVerdict } from './rate-limits.ts'

/** A request on its way to its answer. */
export interface Exchange extends BagMember {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  readonly peer: Peer
  /** How the caller's general bucket stands: shown by the answer. */
  verdict: RateVerdict | undefined
  /** What the contract puts into every answer. */
  headers: Readonly<Record<string, string>>
  /** Set when a client that waits with its body (`Expect: 100-continue`) has been told to send it. */
  hasContinued: boolean
  /** The pattern of its path, once that was found. */
  route: string | undefined
  /** The identity whose host was asked, once that was found. */
  tenant: string | undefined
  /** Who was let in: looked at again while the request runs (`RunningReview`). */
  admitted: Admitted | undefined
}

/** A caller who was let in to a tenant, and when. */
interface Admitted {
  readonly tenant: Tenant
  /** What `authenticate` gave; undefined for callers without a bearer. */
  readonly credential: unknown
  /** Unix milliseconds. */
  readonly atMs: number
}

export function exchangeOf(request: IncomingMessage, response: ServerResponse, peer: Peer): Exchange {
  return {
    request,
    response,
    requestId: requestIdOf(request.headers['x-request-id']),
    peer,
    verdict: undefined,
    headers: {},
    hasContinued: false,
    bagIndex: -1,
    route: undefined,
    tenant: undefined,
    admitted: undefined,
  }
}

/** Whether the client sends its body only when it is told to. */
export function waitsWithBody({ headers }: IncomingMessage): boolean {
  return headers.expect?.toLowerCase() === '100-continue'
}

/** Tells a client that waits with its body to send it; called when every check of the request has passed. */
export function askForBody(exchange: Exchange): void {
  if (exchange.hasContinued || !waitsWithBody(exchange.request)) return
  exchange.hasContinued = true
  exchange.response.writeContinue()
}

/** The same, when the first byte is read: by then the handler has accepted the request too. */
export function askForBodyWhenRead(exchange: Exchange): void {
  const { request, response } = exchange
  if (!waitsWithBody(request)) return
  const read = request._read
  request._read = (size) => {
    request._read = read
    // A body that is only discarded after the answer is not asked for.
    if (!response.headersSent) askForBody(exchange)
    read.call(request, size)
  }
}

const ownIdForm = /^[A-Za-z0-9._-]{1,64}$/
// Unique among nodes and restarts, and cheaper than randomness for every request.
const processPrefix = randomBytes(9).toString('base64url')
let counter = 0

/** The request's own `X-Request-Id` when it has the form of one, else a new id (docs/protocol/conventions.md, Answers). */
export function requestIdOf(header: string | string[] | undefined): string {
  if (typeof header === 'string' && ownIdForm.test(header)) return header
  counter += 1
  return `${processPrefix}-${counter.toString(36)}`
}

/** Aborted when the client goes away before its answer is complete, or when `stopped` is, with the reason of that. */
export function abortSignalOf(response: ServerResponse, stopped: AbortSignal): AbortSignal {
  const controller = new AbortController()
  const stop = () => controller.abort(stopped.reason)
  if (stopped.aborted) stop()
  if (response.destroyed) controller.abort()
  stopped.addEventListener('abort', stop, { once: true })
  response.once('close', () => {
    stopped.removeEventListener('abort', stop)
    if (!response.writableFinished) controller.abort()
  })
  return controller.signal
}
