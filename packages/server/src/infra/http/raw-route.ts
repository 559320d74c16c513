import type { IncomingMessage } from 'node:http'
import type { WholeAnswer } from './answer.ts'
import type { Peer } from './peer.ts'

/** A path outside of the contracts (health, metrics, documentation): answered on every host, without envelope,
 * credential and rate limit. GET answers HEAD as well. */
export interface RawRoute {
  readonly method: 'GET' | 'POST'
  /** With `{param}` placeholders, like a contract's. */
  readonly path: string
  handle(visit: RawVisit): WholeAnswer | Promise<WholeAnswer>
}

export interface RawVisit {
  readonly request: IncomingMessage
  readonly peer: Peer
  readonly params: Readonly<Record<string, unknown>>
}
