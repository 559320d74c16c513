import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { Failure } from '#lib/failure.ts'
import type { AdmissionDeps } from './admission.ts'
import { type AnswerSite, answerFailure, answerWhole, type WholeAnswer } from './answer.ts'
import { type Peer, rateKeyOf } from './peer.ts'
import { takeGeneral } from './request-admission.ts'
import type { Target } from './router.ts'

/** A path outside of the contracts (health, metrics, documentation): answered on every host, without envelope,
 * credential and rate limit. GET answers HEAD as well. */
export interface RawRoute {
  readonly method: 'GET' | 'POST'
  /** With `{param}` placeholders, like a contract's. */
  readonly path: string
  handle(visit: RawVisit): WholeAnswer | Promise<WholeAnswer>
  /** It costs as much as an endpoint, and takes from the same bucket of the address. */
  readonly isCounted?: true
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
  /** Answers the identity whose host was asked. What it throws is answered in HTTP, and ends the connection. */
  take(visit: UpgradeVisit): Promise<string | undefined>
}

export interface UpgradeVisit extends RawVisit {
  readonly connection: Duplex
  /** What the client has sent beyond its request. */
  readonly head: Buffer
}

export function rawTarget(
  { site, ...deps }: Pick<AdmissionDeps, 'rateLimits' | 'clock'> & { readonly site: AnswerSite },
  { method, path, handle, upgrade, isCounted }: RawRoute,
): Target {
  return {
    method,
    route: path,
    urls: [path.replaceAll(/\{(\w+)\}/g, ':$1')],
    upgrade,
    async answer(exchange, { params }) {
      const { request, peer, requestId } = exchange
      try {
        if (isCounted) await takeGeneral(deps, exchange, 'anonymous', rateKeyOf(peer.ip))
        answerWhole(site, exchange, await handle({ request, peer, params }))
      } catch (error) {
        if (!(error instanceof Failure))
          site.logger.error({ err: error, reqId: requestId }, 'a request failed unexpectedly')
        answerFailure(site, exchange, error)
      }
    },
  }
}
