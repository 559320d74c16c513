import { LRUCache } from 'lru-cache'
import type { Clock } from '#lib/clock.ts'
import { Gate, GateFullError, type GateLimits } from '#lib/gate.ts'
import { FailureBudget } from './failure-budget.ts'

/** Why this server looks an identity up. Each cause has its own slots, failure budget and pauses, so that none exhausts
 * those of another. */
export type LookUpCause = 'inbox' | 'bearer' | 'delivery' | 'owner' | 'guest' | 'server'

/** Who causes a look-up, an address or a tenant. Failures are charged to this asker alone. */
export interface Asker {
  readonly cause: LookUpCause
  readonly key: string
}

/** Work of the server itself. */
export const serverItself: Asker = { cause: 'server', key: '' }

interface LaneSize {
  /** Concurrent look-ups of the cause. All causes together leave room for deliveries in the egress client. */
  readonly total: number
  /** The same for one asker. */
  readonly perAsker: number
}

const sizes: Readonly<Record<LookUpCause, LaneSize>> = {
  inbox: { total: 32, perAsker: 8 },
  bearer: { total: 16, perAsker: 4 },
  delivery: { total: 16, perAsker: 8 },
  owner: { total: 16, perAsker: 8 },
  guest: { total: 8, perAsker: 2 },
  server: { total: 16, perAsker: 16 },
}
const waiting = 1024
const waitingPerKey = 64
// A token can name any identity, and so make this server ask any host. Two questions at a time for one domain, and two
// at one server, prevent abuse against third parties.
const perHost = 2
const waitTimeoutMs = 20_000
const maxPausedServers = 5000

/** The slots of one cause, its failure budget, and the servers that it leaves alone. */
export class LookUpLane {
  readonly budget: FailureBudget
  /** Servers that did not answer, with the time until which they are not asked again. */
  readonly resting = new LRUCache<string, number>({ max: maxPausedServers })
  readonly #askers: Gate
  readonly #domains: Gate
  readonly #servers: Gate

  constructor(cause: LookUpCause, clock: Pick<Clock, 'now'>) {
    const { total, perAsker } = sizes[cause]
    const hosts: GateLimits = { total, perKey: perHost, waitingPerKey, waiting }
    this.budget = new FailureBudget(clock)
    this.#askers = new Gate({ total: waiting, perKey: perAsker, waitingPerKey, waiting })
    this.#domains = new Gate(hosts)
    this.#servers = new Gate(hosts)
  }

  ofAsker<Result>(key: string, work: () => Promise<Result>): Promise<Result | Overloaded> {
    return inTurn(this.#askers, key, work)
  }

  atDomain<Result>(domain: string, work: () => Promise<Result>): Promise<Result | Overloaded> {
    return inTurn(this.#domains, domain, work)
  }

  atServer<Result>(origin: string, work: () => Promise<Result>): Promise<Result | Overloaded> {
    return inTurn(this.#servers, origin, work)
  }
}

/** No server was asked: too many look-ups wait, or a budget is used up. It says nothing about the identity. */
export interface Overloaded {
  readonly kind: 'overloaded'
}

const overloaded: Overloaded = { kind: 'overloaded' }

async function inTurn<Result>(
  gate: Gate,
  key: string,
  work: () => Promise<Result>,
): Promise<Result | Overloaded> {
  let leave: () => void
  try {
    leave = await gate.enter(key, AbortSignal.timeout(waitTimeoutMs))
  } catch (error) {
    if (error instanceof GateFullError || (error instanceof Error && error.name === 'TimeoutError'))
      return overloaded
    throw error
  }
  try {
    return await work()
  } finally {
    leave()
  }
}
