import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type AnswerSite, answerFailure, answerWhole, type WholeAnswer } from './answer.ts'
import type { Peer } from './peer.ts'
import type { Target } from './router.ts'

/** A path outside of the contracts (health, metrics, documentation): answered on every host, without envelope,
 * credential and rate limit. GET answers HEAD as well. */
export interface RawRoute {
  readonly method: 'GET' | 'POST'
  /** With `{param}` placeholders, like a contract's. */
  readonly path: string
  handle(visit: RawVisit): WholeAnswer | Promise<WholeAnswer>
  /** Where the path speaks another protocol as well. */
  readonly upgrade?: Upgrade
}

export interface RawVisit {
  readonly request: IncomingMessage
  readonly peer: Peer
  readonly params: Readonly<Record<string, unknown>>
}

/** Takes over connections that ask for a protocol, as the header `Upgrade` names it. */
export interface Upgrade {
  readonly protocol: string
  /** What it throws is answered in HTTP, and ends the connection. */
  take(visit: UpgradeVisit): Promise<void>
}

export interface UpgradeVisit extends RawVisit {
  readonly connection: Duplex
  /** What the client has sent beyond its request. */
  readonly head: Buffer
}

export function rawTarget(site: AnswerSite, { method, path, handle, upgrade }: RawRoute): Target {
  return {
    method,
    urls: [path.replaceAll(/\{(\w+)\}/g, ':$1')],
    upgrade,
    async answer(exchange, { params }) {
      const { request, peer, requestId } = exchange
      try {
        answerWhole(site, exchange, await handle({ request, peer, params }))
      } catch (error) {
        site.logger.error({ err: error, reqId: requestId }, 'a request failed unexpectedly')
        answerFailure(site, exchange, error)
      }
    },
  }
}
