import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock } from '#lib/clock.ts'
import { type AnswerSite, answerWhole, discardRest } from './answer.ts'
import { type Exchange, requestIdOf } from './exchange.ts'
import type { Peer } from './peer.ts'
import { endWith } from './raw-answer.ts'

interface Visit {
  readonly request: IncomingMessage
  readonly peer: Peer
  readonly requestId: string
  /** Answers with a small page. */
  refuse(status: number): void
}

/** A request for a host that this server does not answer for itself. */
export interface ProxiedRequest extends Visit {
  readonly response: ServerResponse
  /** Throws away what is left of the body, for a while. */
  discardRest(): void
}

/** A connection that asks such a host for another protocol. */
export interface ProxiedUpgrade extends Visit {
  readonly connection: Duplex
  readonly head: Buffer
}

/** Hosts whose requests belong to others, whatever their path. */
export interface ProxiedHosts<Backend = unknown> {
  find(host: string): Backend | undefined | Promise<Backend | undefined>
  /** Whether WebSockets are taken there, as far as that is in memory. */
  takesUpgrade(host: string): boolean
  forward(visit: ProxiedRequest, backend: Backend): Promise<void>
  forwardUpgrade(visit: ProxiedUpgrade, backend: Backend): void
}

// Proofs for certificates of a host are this server's, whatever backend answers the rest.
const ownPath = '/.well-known/acme-challenge/'

/** The host to ask `ProxiedHosts` for; undefined where this server answers itself. */
export function proxiedHostOf({ url }: IncomingMessage, { host }: Peer): string | undefined {
  return url?.startsWith(ownPath) ? undefined : host
}

/** The request as those see it who pass it on. */
export function proxiedRequest(site: AnswerSite, exchange: Exchange): ProxiedRequest {
  const { request, response, peer, requestId } = exchange
  return {
    request,
    response,
    peer,
    requestId,
    discardRest: () => discardRest(request, site.clock),
    refuse(status) {
      const body = page(status)
      // What follows a request that is not right cannot be trusted.
      const closing: Record<string, string> = status < 500 ? { connection: 'close' } : {}
      const headers = { ...pageHeaders, ...closing }
      answerWhole(site, exchange, { status, headers, body })
    },
  }
}

interface OpenUpgrade {
  readonly request: IncomingMessage
  readonly peer: Peer
  readonly connection: Duplex
  readonly head: Buffer
}

/** The upgrade as those see it who pass it on. */
export function proxiedUpgrade(clock: Clock, upgrade: OpenUpgrade): ProxiedUpgrade {
  const { connection, request } = upgrade
  return {
    ...upgrade,
    requestId: requestIdOf(request.headers['x-request-id']),
    refuse(status) {
      if (connection.destroyed) return
      const body = page(status)
      const headers = { ...pageHeaders, 'content-length': Buffer.byteLength(body), connection: 'close' }
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
      endWith(connection, clock, `HTTP/1.1 ${[statusText(status), ...lines].join('\r\n')}\r\n\r\n${body}`)
    },
  }
}

const pageHeaders = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
const statusText = (status: number) => `${status} ${STATUS_CODES[status]}`
const page = (status: number) => `${statusText(status)}\n`
