import type { IdTag } from '@kith/protocol'
import { registrableDomain } from '#infra/dns/index.ts'
import type { Clock } from '#lib/clock.ts'
import { type FetchIdentityDeps, type FetchVerdict, fetchIdentity } from './fetch-identity.ts'
import { type FindServerDeps, type FoundServer, findServer } from './find-server.ts'
import type { PublishedIdentity } from './identity.ts'
import { type Asker, type LookUpCause, LookUpLane, type Overloaded } from './look-up-lanes.ts'

export interface DiscoveryDeps extends FindServerDeps, FetchIdentityDeps {
  readonly clock: Clock
}

/** The stored answer. */
interface KnownAnswer {
  readonly server: string
  readonly etag: string | undefined
  readonly identity: Pick<PublishedIdentity, 'inboxUrl'>
}

/** Whether the host of an inbox confirms that it takes deliveries for the identity. */
export type InboxConfirmation = 'confirmed' | 'denied' | 'unreachable'

export type Discovered =
  | {
      readonly kind: 'found'
      readonly identity: PublishedIdentity
      readonly inbox: InboxConfirmation
      readonly server: string
      readonly etag: string | undefined
    }
  | { readonly kind: 'not-modified'; readonly inbox: InboxConfirmation }
  | { readonly kind: 'unknown'; readonly isGone?: true }
  | { readonly kind: 'unreachable' }

interface Question {
  readonly idTag: IdTag
  readonly known: KnownAnswer | undefined
  readonly asker: Asker
}

const walkTimeoutMs = 10_000
const restMs = 30_000
const longestRestMs = 60 * 60 * 1000

/** Looks up identities of other servers by asking them. It stores nothing that it finds. */
export class Discovery {
  readonly #deps: DiscoveryDeps
  /** One per cause. */
  readonly #lanes = new Map<LookUpCause, LookUpLane>()

  constructor(deps: DiscoveryDeps) {
    this.#deps = deps
  }

  async discover(question: Question): Promise<Discovered | Overloaded> {
    const { idTag, asker } = question
    const domain = await registrableDomain(idTag)
    const { budget } = this.#laneOf(asker)
    const account = `${asker.key} ${domain}`
    if (budget.isExhausted(account)) return { kind: 'overloaded' }
    const outcome = await this.#laneOf(asker).ofAsker(asker.key, () => this.#ask(question, domain))
    const isVain = outcome.kind === 'unknown' || outcome.kind === 'unreachable'
    if (isVain || ('inbox' in outcome && outcome.inbox !== 'confirmed')) budget.charge(account)
    return outcome
  }

  #laneOf({ cause }: Asker): LookUpLane {
    const lane = this.#lanes.get(cause) ?? new LookUpLane(cause, this.#deps.clock)
    this.#lanes.set(cause, lane)
    return lane
  }

  async #ask(question: Question, domain: string): Promise<Discovered | Overloaded> {
    const { idTag, known, asker } = question
    const found = await this.#laneOf(asker).atDomain(
      domain,
      (): Promise<FoundServer> => findServer(this.#deps, idTag, AbortSignal.timeout(walkTimeoutMs)),
    )
    if (found.kind !== 'server') return found
    const { server } = found
    const verdict = await this.#askServer(question, server, known?.server === server ? known.etag : undefined)
    if (verdict.kind === 'found') {
      const inbox = await this.#askInbox(question, server, verdict.identity.inboxUrl)
      return { ...verdict, inbox, server }
    }
    if (verdict.kind === 'not-modified' && known)
      return { ...verdict, inbox: await this.#askInbox(question, server, known.identity.inboxUrl) }
    if (verdict.kind === 'not-modified') return { kind: 'unknown' }
    if (verdict.kind !== 'no-such-host') return verdict
    // A name that answered before and no longer resolves is more often a mistake in a zone than a removed identity.
    return { kind: known ? 'unreachable' : 'unknown' }
  }

  /** Asks the host of the inbox whether it takes deliveries for the identity. Without that, any server could direct
   * others' deliveries to a third one. The server that was asked for the identity need not be asked again; the
   * `serverUrl` that it names proves nothing. */
  async #askInbox(question: Question, server: string, inboxUrl: string): Promise<InboxConfirmation> {
    const inbox = new URL(inboxUrl)
    if (inbox.host === new URL(server).host) return 'confirmed'
    const verdict = await this.#askServer(question, inbox.origin, undefined)
    if (verdict.kind === 'unreachable' || verdict.kind === 'overloaded') return 'unreachable'
    return verdict.kind === 'found' && verdict.identity.inboxUrl === inboxUrl ? 'confirmed' : 'denied'
  }

  #askServer(
    { idTag, asker }: Question,
    server: string,
    etag: string | undefined,
  ): Promise<FetchVerdict | Overloaded> {
    const lane = this.#laneOf(asker)
    const { clock, allowPlainHttp } = this.#deps
    return lane.atServer(new URL(server).origin, async (): Promise<FetchVerdict> => {
      // By the whole address, so that one path that never answers does not make its whole server unreachable.
      if ((lane.resting.get(server) ?? 0) > clock.now()) return { kind: 'unreachable' }
      const verdict = await fetchIdentity(this.#deps, { idTag, allowPlainHttp, server, etag })
      if (verdict.kind === 'unreachable') {
        const wishedMs = (verdict.retryAfterSecs ?? 0) * 1000
        lane.resting.set(server, clock.now() + Math.min(Math.max(restMs, wishedMs), longestRestMs))
      }
      return verdict
    })
  }
}
