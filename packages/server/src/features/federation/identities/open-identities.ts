import type { IdTag } from '@kith/protocol'
import { LRUCache } from 'lru-cache'
import { type Database, serverTenant } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { IdentityEvent } from '../events.ts'
import { type Discovered, Discovery, type DiscoveryDeps, type InboxConfirmation } from './discovery.ts'
import {
  deleteExpired,
  deleteIdentity,
  findStoredIdentity,
  findSurplusExpiry,
  putIdentity,
  type StoredIdentity,
} from './identities-store.ts'
import type { PublishedIdentity, ResolvedIdentity } from './identity.ts'
import { withKeys } from './identity-key.ts'
import { type Asker, type Overloaded, serverItself } from './look-up-lanes.ts'

export interface IdentitiesDeps extends DiscoveryDeps {
  readonly db: Database
  /** A tenant of this server; tenants are never looked up elsewhere. */
  readonly findLocal: (idTag: IdTag) => Promise<PublishedIdentity | undefined> | PublishedIdentity | undefined
  readonly emit: Emit<IdentityEvent>
}

interface ResolveOptions {
  readonly refresh?: boolean
  /** The asker whose budget a failed look-up counts against; this server itself when absent. */
  readonly asker?: Asker | undefined
}

/** The identities of this server and of others. */
export interface Identities {
  /** From the cache, or by asking the identity's server (docs/protocol/discovery.md). `refresh` is for a signature by
   * an unknown key: the server is asked again, but not more than once in five minutes. */
  resolve(idTag: IdTag, options?: ResolveOptions): Promise<ResolvedIdentity>
  /** For an identity that cannot be reached at its known address: looks it up again, at most once an hour. */
  renew(idTag: IdTag, options?: Pick<ResolveOptions, 'asker'>): Promise<ResolvedIdentity>
  /** Removes what expired long ago and what is stored beyond the bound, in portions; answers how many. */
  sweep(): Promise<number>
}

const daySecs = 24 * 60 * 60
const freshSecs = daySecs
// How long an expired identity is still served while its server cannot be reached.
const staleSecs = 7 * daySecs
const staleRetryMs = 5 * 60 * 1000
const unknownMs = 5 * 60 * 1000
const unreachableMs = 30_000
// How long an identity is served whose inbox the host has not confirmed, before the host is asked again.
const unsureMs = 5 * 60 * 1000
// What another process learns of an identity, above all that a key was stolen, applies here at most this much later.
const inMemoryMs = 5 * 60 * 1000
const refreshEveryMs = 5 * 60 * 1000
const renewEveryMs = 60 * 60 * 1000
// A refresh this young is not repeated: if it did not bring the key, there is none.
const justRefreshedMs = 10_000
// An identity with its parsed keys takes some kilobytes.
const maxInMemory = 5000
const maxFailures = 5000
const maxRefreshes = 5000
const maxStored = 500_000
// Few enough for one transaction.
const rowsPerSweep = 500

interface Remembered {
  readonly stored: StoredIdentity
  readonly untilMs: number
}

interface Failed {
  readonly outcome: Exclude<ResolvedIdentity, { kind: 'found' }>
  readonly untilMs: number
}

// Portions of a sweep need no consistent view of the table.
const readCommitted = { isolation: 'read-committed' } as const

const unknown = { kind: 'unknown' } as const
const gone = { kind: 'unknown', isGone: true } as const
const unreachable = { kind: 'unreachable' } as const

/** Opens the cache of identities: in memory, then in the database, then at their servers. */
export function openIdentities(deps: IdentitiesDeps): Identities {
  return new IdentityCache(deps)
}

class IdentityCache implements Identities {
  readonly #deps: IdentitiesDeps
  readonly #discovery: Discovery
  readonly #remembered = new LRUCache<IdTag, Remembered>({ max: maxInMemory })
  readonly #failed = new LRUCache<IdTag, Failed>({ max: maxFailures })
  readonly #renewedAtMs = new LRUCache<IdTag, number>({ max: maxRefreshes })
  readonly #refreshedAtMs = new LRUCache<IdTag, number>({ max: maxRefreshes })
  /** Look-ups under way, by asker, and requests under way, by cause. The gates of `Discovery` bound both and refuse
   * immediately when they are full. */
  readonly #lookingUp = new Map<string, Promise<ResolvedIdentity>>()
  readonly #asking = new Map<string, Promise<ResolvedIdentity | Overloaded>>()

  constructor(deps: IdentitiesDeps) {
    this.#deps = deps
    this.#discovery = new Discovery(deps)
  }

  async resolve(
    idTag: IdTag,
    { refresh = false, asker = serverItself }: ResolveOptions = {},
  ): Promise<ResolvedIdentity> {
    const local = await this.#deps.findLocal(idTag)
    if (local) return { kind: 'found', identity: withKeys(local) }
    if (refresh) return this.#refresh(idTag, asker)
    const remembered = this.#remembered.get(idTag)
    if (remembered && remembered.untilMs > this.#deps.clock.now()) return found(remembered.stored)
    const failed = this.#findFailure(idTag)
    if (failed) return failed
    const key = `${asker.cause} ${asker.key} ${idTag}`
    return once(this.#lookingUp, key, () => this.#lookUp(idTag, asker))
  }

  async renew(
    idTag: IdTag,
    { asker = serverItself }: Pick<ResolveOptions, 'asker'> = {},
  ): Promise<ResolvedIdentity> {
    const { clock } = this.#deps
    const stored = (await this.#deps.findLocal(idTag)) ? undefined : await this.#findStored(idTag)
    if (!stored) return this.resolve(idTag, { asker })
    const askedAtMs = Math.max(stored.fetchedAt * 1000, this.#renewedAtMs.get(idTag) ?? 0)
    if (clock.now() - askedAtMs < renewEveryMs) return found(stored)
    this.#renewedAtMs.set(idTag, clock.now())
    return this.#askOnce(idTag, async () => stored, asker)
  }

  async sweep(): Promise<number> {
    const { db, clock } = this.#deps
    const surplus = await findSurplusExpiry(db.reader(serverTenant), maxStored)
    const expiredBefore = Math.max(nowSecs(clock) - staleSecs, surplus ?? 0)
    let swept = 0
    for (;;) {
      const portion = { expiredBefore, limit: rowsPerSweep }
      const deleted = await db.transact(serverTenant, (tx) => deleteExpired(tx, portion), readCommitted)
      swept += deleted
      if (deleted < rowsPerSweep) return swept
    }
  }

  async #lookUp(idTag: IdTag, asker: Asker): Promise<ResolvedIdentity> {
    const stored = await this.#findStored(idTag)
    const now = nowSecs(this.#deps.clock)
    if (stored && stored.expiresAt > now) return this.#remember(stored, stored.expiresAt * 1000)
    const outcome = await this.#askOnce(idTag, () => stored, asker)
    if (outcome.kind !== 'unreachable' || !stored || stored.expiresAt + staleSecs <= now) return outcome
    return this.#remember(stored, this.#deps.clock.now() + staleRetryMs)
  }

  async #refresh(idTag: IdTag, asker: Asker): Promise<ResolvedIdentity> {
    const { clock } = this.#deps
    const underWay = this.#asking.get(`${asker.cause} ${idTag}`)
    if (underWay) return seen(await underWay)
    const failed = this.#findFailure(idTag)
    if (failed) return failed
    const sinceMs = clock.now() - (this.#refreshedAtMs.get(idTag) ?? Number.NEGATIVE_INFINITY)
    if (sinceMs < justRefreshedMs) return this.resolve(idTag, { asker })
    // Not `unknown`: the key may have been made since, and a sender that is refused does not try again.
    if (sinceMs < refreshEveryMs) return unreachable
    this.#refreshedAtMs.set(idTag, clock.now())
    return this.#askOnce(idTag, () => this.#findStored(idTag), asker)
  }

  /** Askers of one cause share an answer, but not a refusal by one asker's budget. */
  async #askOnce(
    idTag: IdTag,
    find: () => StoredIdentity | undefined | Promise<StoredIdentity | undefined>,
    asker: Asker,
  ): Promise<ResolvedIdentity> {
    const key = `${asker.cause} ${idTag}`
    const underWay = this.#asking.get(key)
    const shared = underWay && (await underWay)
    if (shared && shared.kind !== 'overloaded') return shared
    return seen(await once(this.#asking, key, async () => this.#ask(idTag, await find(), asker)))
  }

  /** Asks the identity's server and stores its answer. */
  async #ask(
    idTag: IdTag,
    stored: StoredIdentity | undefined,
    asker: Asker,
  ): Promise<ResolvedIdentity | Overloaded> {
    const { db, clock } = this.#deps
    const discovered = await this.#discovery.discover({ idTag, known: stored, asker })
    // Another asker may still ask.
    if (discovered.kind === 'overloaded') return discovered
    if (discovered.kind === 'unreachable') return this.#fail(idTag, unreachable, unreachableMs)
    // One malformed answer does not remove a known identity.
    if (discovered.kind === 'unknown' && !discovered.isGone)
      return this.#fail(idTag, stored ? unreachable : unknown, stored ? unreachableMs : unknownMs)
    const fresh = freshEntry(discovered, stored, nowSecs(clock))
    if (!fresh) {
      if (stored) await db.transact(serverTenant, (tx) => deleteIdentity(tx, idTag))
      this.#remembered.delete(idTag)
      return this.#fail(idTag, gone, unknownMs)
    }
    const { isInboxUnsure = false } = fresh.identity
    const revocations = newRevocations(fresh.identity, stored?.identity)
    if (!isInboxUnsure || revocations.length > 0)
      await db.transact(serverTenant, async (tx) => {
        if (!isInboxUnsure) await putIdentity(tx, fresh)
        for (const revocation of revocations)
          await this.#deps.emit(tx, { kind: 'key.revoked', ...revocation })
      })
    if (isInboxUnsure) return this.#remember(fresh, clock.now() + unsureMs)
    return this.#remember(fresh, fresh.expiresAt * 1000)
  }

  #findStored(idTag: IdTag): Promise<StoredIdentity | undefined> {
    return findStoredIdentity(this.#deps.db.reader(serverTenant), idTag)
  }

  #remember(stored: StoredIdentity, untilMs: number): ResolvedIdentity {
    const latestMs = this.#deps.clock.now() + inMemoryMs
    this.#remembered.set(stored.identity.idTag, { stored, untilMs: Math.min(untilMs, latestMs) })
    this.#failed.delete(stored.identity.idTag)
    return found(stored)
  }

  #findFailure(idTag: IdTag): ResolvedIdentity | undefined {
    const failed = this.#failed.get(idTag)
    return failed && failed.untilMs > this.#deps.clock.now() ? failed.outcome : undefined
  }

  #fail(idTag: IdTag, outcome: Failed['outcome'], forMs: number): ResolvedIdentity {
    this.#failed.set(idTag, { outcome, untilMs: this.#deps.clock.now() + forMs })
    return outcome
  }
}

/** The entry to store after an answer that is no failure; undefined when there is no such identity. */
function freshEntry(
  discovered: Exclude<Discovered, { kind: 'unreachable' }>,
  stored: StoredIdentity | undefined,
  now: number,
): StoredIdentity | undefined {
  const times = { fetchedAt: now, expiresAt: now + freshSecs }
  if (discovered.kind === 'unknown') return undefined
  if (discovered.kind === 'found') {
    const { identity, server, etag, inbox } = discovered
    return withInbox({ identity: withKeys(identity), server, etag, ...times }, inbox, stored)
  }
  return stored && withInbox({ ...stored, ...times }, discovered.inbox, stored)
}

/** An inbox counts only if its host confirms it (`docs/protocol/discovery.md`). If the host does not answer now, its
 * earlier confirmation holds. */
function withInbox(
  fresh: StoredIdentity,
  inbox: InboxConfirmation,
  stored: StoredIdentity | undefined,
): StoredIdentity {
  const { identity } = fresh
  const isAsBefore = stored?.identity.inboxUrl === identity.inboxUrl
  if (inbox === 'confirmed' || (inbox === 'unreachable' && isAsBefore)) return fresh
  if (inbox === 'unreachable') return { ...fresh, identity: { ...identity, isInboxUnsure: true } }
  // Without the ETag, so that the next answer names the inbox again.
  const inboxUrl = `${ownServer(fresh)}/api/inbox`
  return { ...fresh, identity: { ...identity, inboxUrl }, etag: undefined }
}

/** The base address of the identity. Its server may state it only for its own host. */
function ownServer({ identity: { serverUrl }, server }: StoredIdentity): string {
  return new URL(serverUrl).host === new URL(server).host ? serverUrl : server
}

function seen(outcome: ResolvedIdentity | Overloaded): ResolvedIdentity {
  return outcome.kind === 'overloaded' ? unreachable : outcome
}

/** The keys that are revoked, or revoked from an earlier time, compared with what was known. */
function newRevocations({ idTag, keys }: PublishedIdentity, known: PublishedIdentity | undefined) {
  return keys.flatMap(({ kid, revokedAt: since }) => {
    const before = known?.keys.find((key) => key.kid === kid)?.revokedAt
    return since === undefined || (before !== undefined && before <= since) ? [] : [{ idTag, kid, since }]
  })
}

function found({ identity }: StoredIdentity): ResolvedIdentity {
  return { kind: 'found', identity }
}

/** Callers that ask for the same at the same time share one answer. */
function once<Key, Result>(
  underWay: Map<Key, Promise<Result>>,
  key: Key,
  start: () => Promise<Result>,
): Promise<Result> {
  const running = underWay.get(key)
  if (running) return running
  const started = start().finally(() => underWay.delete(key))
  underWay.set(key, started)
  return started
}
