import type { IdTag } from '@kith/protocol'
import { LRUCache } from 'lru-cache'
import type { Clock } from '#lib/clock.ts'
import { Gate, GateFullError } from '#lib/gate.ts'
import { registrableDomain } from './discovery-record.ts'
import { FailureBudget } from './failure-budget.ts'
import { type FetchIdentityDeps, type FetchVerdict, fetchIdentity } from './fetch-identity.ts'
import { type FindServerDeps, type FoundServer, findServer } from './find-server.ts'
import type { PublishedIdentity } from './identity.ts'

export interface DiscoveryDeps extends FindServerDeps, FetchIdentityDeps {
  readonly clock: Clock
}

/** The answer that is known already. */
export interface KnownAnswer {
  readonly server: string
  readonly etag: string | undefined
}

export type Discovered =
  | {
      readonly kind: 'found'
      readonly identity: PublishedIdentity
      readonly server: string
      readonly etag: string | undefined
    }
  | { readonly kind: 'not-modified' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unreachable' }

// Anybody can name any identity in a token, and so make this server ask any host: two questions at a time for one
// domain, and at one server, keep it from being a weapon.
const gateLimits = { total: 64, perKey: 2, waitingPerKey: 64, waiting: 1024 }
const walkTimeoutMs = 10_000
const waitTimeoutMs = 20_000
const restMs = 30_000
const longestRestMs = 60 * 60 * 1000
const maxRestingServers = 5000

/** Finds out about identities of other servers by asking them. Nothing that was found is kept here. */
export class Discovery {
  readonly #deps: DiscoveryDeps
  readonly #domains = new Gate(gateLimits)
  readonly #servers = new Gate(gateLimits)
  readonly #budget: FailureBudget
  /** Servers that did not answer, with the time until which they are left alone. */
  readonly #resting = new LRUCache<string, number>({ max: maxRestingServers })

  constructor(deps: DiscoveryDeps) {
    this.#deps = deps
    this.#budget = new FailureBudget(deps.clock)
  }

  async discover(idTag: IdTag, known: KnownAnswer | undefined): Promise<Discovered> {
    const domain = await registrableDomain(idTag)
    if (this.#budget.isExhausted(domain)) return { kind: 'unreachable' }
    const outcome = await this.#ask(idTag, domain, known)
    if (outcome.kind === 'unknown' || outcome.kind === 'unreachable') this.#budget.charge(domain)
    return outcome
  }

  async #ask(idTag: IdTag, domain: string, known: KnownAnswer | undefined): Promise<Discovered> {
    const found = await inTurn(
      this.#domains,
      domain,
      (): Promise<FoundServer> => findServer(this.#deps, idTag, AbortSignal.timeout(walkTimeoutMs)),
    )
    if (found.kind !== 'server') return found
    const { server } = found
    const verdict = await inTurn(this.#servers, new URL(server).origin, () =>
      this.#askServer(idTag, server, known),
    )
    if (verdict.kind === 'found') return { ...verdict, server }
    if (verdict.kind !== 'no-such-host') return verdict
    // A name that answered before and is gone now is more often a mistake in a zone than a farewell.
    return { kind: known ? 'unreachable' : 'unknown' }
  }

  async #askServer(idTag: IdTag, server: string, known: KnownAnswer | undefined): Promise<FetchVerdict> {
    const { clock, allowPlainHttp } = this.#deps
    const { origin } = new URL(server)
    if ((this.#resting.get(origin) ?? 0) > clock.now()) return { kind: 'unreachable' }
    const etag = known?.server === server ? known.etag : undefined
    const verdict = await fetchIdentity(this.#deps, { idTag, allowPlainHttp, server, etag })
    if (verdict.kind === 'unreachable') {
      const wishedMs = (verdict.retryAfterSecs ?? 0) * 1000
      this.#resting.set(origin, clock.now() + Math.min(Math.max(restMs, wishedMs), longestRestMs))
    }
    return verdict
  }
}

async function inTurn<Result>(
  gate: Gate,
  key: string,
  work: () => Promise<Result>,
): Promise<Result | { readonly kind: 'unreachable' }> {
  let leave: () => void
  try {
    leave = await gate.enter(key, AbortSignal.timeout(waitTimeoutMs))
  } catch (error) {
    if (error instanceof GateFullError || (error instanceof Error && error.name === 'TimeoutError'))
      return { kind: 'unreachable' }
    throw error
  }
  try {
    return await work()
  } finally {
    leave()
  }
}
