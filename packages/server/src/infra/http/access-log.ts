import type { Duplex } from 'node:stream'
import type { Exchange } from './exchange.ts'

/** One answered request. Neither the address nor the host stand here, as both may hold credentials or be invented. */
export interface AccessLogEntry {
  readonly method: string
  /** The pattern of the path; `none` where nothing lives there, `proxied` for the site of another program. */
  readonly route: string
  /** Absent when the client had gone before the answer began, and for connections that were passed on. */
  readonly status?: number
  readonly ms: number
  /** The identity whose host was asked. */
  readonly tenant?: string
  readonly reqId: string
}

/** Takes every answered request. Absent where requests are not logged, so that they cost nothing then. */
export type AccessLog = (entry: AccessLogEntry) => void

/** What stands for the path of a request to the site of another program. */
export const proxiedRoute = 'proxied'

// The longest method that there is; a client of HTTP/2 may send any word.
const longestMethod = 16
const methodOf = (method: string | undefined) => (method ?? '').slice(0, longestMethod)

/** Logs a request when its answer has ended. */
export function logWhenAnswered(accessLog: AccessLog, exchange: Exchange): void {
  const startedAt = performance.now()
  exchange.response.once('close', () => {
    const { request, response, requestId, route = 'none', tenant } = exchange
    accessLog({
      method: methodOf(request.method),
      route,
      ...(response.headersSent ? { status: response.statusCode } : {}),
      ms: since(startedAt),
      ...(tenant === undefined ? {} : { tenant }),
      reqId: requestId,
    })
  })
}

/** A request for another protocol, and what became of it. */
export interface UpgradeOutcome {
  readonly connection: Duplex
  readonly startedAt: number
  readonly reqId: string
  route: string
  tenant: string | undefined
  /** Set when it was refused. */
  status: number | undefined
}

const switchingProtocols = 101
// Of handshakes that the library of WebSockets refuses by itself.
const badRequest = 400

export function logUpgrade(accessLog: AccessLog, outcome: UpgradeOutcome): void {
  const { connection, startedAt, reqId, route, tenant } = outcome
  const status = outcome.status ?? (connection.writableEnded ? badRequest : switchingProtocols)
  accessLog({
    method: 'GET',
    route,
    ...(route === proxiedRoute ? {} : { status }),
    ms: since(startedAt),
    ...(tenant === undefined ? {} : { tenant }),
    reqId,
  })
}

const since = (startedAt: number) => Math.round((performance.now() - startedAt) * 10) / 10
