import { busWindow, type IdTag } from '@kith/protocol'
import type { HeldCredential } from '#features/accounts/index.ts'
import type { NodeBus } from '#infra/bus/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant, type TenantId, type Writer } from '#infra/db/index.ts'
import type { SocketVisit } from '#infra/ws/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { PeriodicWork } from '#lib/periodic-work.ts'
import { Connection } from './connection.ts'
import { appendNotice, appendNotices, findLog, hasListeners, listLogs, wantLog } from './event-log-store.ts'
import { EventNumbers } from './event-numbers.ts'
import { isKept, type Notice } from './notice.ts'
import { Presence } from './presence.ts'
import { type FeedDeps, TenantFeed } from './tenant-feed.ts'

interface BusDeps extends FeedDeps {
  readonly bus: NodeBus
}

/** Features publish events here, and clients receive them. */
export interface Bus {
  /** Tells the clients of the tenant of `tx`, once it is committed. Nothing is written for a tenant without a client in
   * the last week. */
  tell(tx: Writer, notice: Notice): Promise<void>
  /** Has the tenant listening clients? For features that would have to look up what to tell. */
  hasListeners(tx: Writer): Promise<boolean>
  /** The same for several tenants. */
  tellAll(tx: Writer, tenantIds: readonly TenantId[], notice: Notice): Promise<void>
  /** Tells only clients that are connected now: at once, and without the log. */
  pass(tenantId: TenantId, notice: Notice): void
  /** A client comes in, and is told nothing before `replay` when it is to come first. */
  join(
    visit: SocketVisit<HeldCredential>,
    caller: Identified,
    first?: { readonly isReplaying: boolean },
  ): Promise<Connection>
  leave(connection: Connection): void
  /** Gives a client what it missed; false when not everything of that is kept. */
  replay(connection: Connection, since: number): Promise<boolean>
  notePresence(connection: Connection, state: 'active' | 'idle'): void
  isConnected(tenantId: TenantId, idTag: IdTag): Promise<boolean>
  /** Resolves when everything that is committed is told. */
  settled(): Promise<void>
  close(): Promise<void>
}

// Between hints, and instead of them where processes do not hear each other.
const lookEveryMs = 3000
const daySecs = 24 * 60 * 60

/** The bus of this process. */
export function openBus(deps: BusDeps): Bus {
  return new ProcessBus(deps)
}

type Hint = { readonly seq: number } | { readonly notice: Notice }

interface OpenFeed {
  readonly feed: TenantFeed
  readonly unsubscribe: () => void
}

class ProcessBus implements Bus {
  readonly #deps: BusDeps
  readonly #db: Database
  // Bound: the sockets that may be open.
  readonly #feeds = new Map<TenantId, OpenFeed>()
  readonly #numbers: EventNumbers
  readonly #presence: Presence
  readonly #look: PeriodicWork

  constructor(deps: BusDeps) {
    this.#deps = deps
    this.#db = deps.db
    this.#presence = new Presence(deps)
    this.#look = new PeriodicWork({
      clock: deps.clock,
      everyMs: lookEveryMs,
      work: () => this.#readLogs(),
      onError: (error) => deps.logger.error({ err: error }, 'the logs of events could not be read'),
    })
    const onNumbered = (tenantId: TenantId, seq: number) => this.#hint(tenantId, { seq })
    this.#numbers = new EventNumbers({ ...deps, onNumbered })
  }

  async tell(tx: Writer, notice: Notice): Promise<void> {
    const { tenantId } = tx
    if (!isKept(notice)) tx.afterCommit(() => this.pass(tenantId, notice))
    else if (await appendNotice(tx, notice, nowSecs(this.#deps.clock)))
      tx.afterCommit(() => this.#numbers.request(tenantId))
  }

  hasListeners(tx: Writer): Promise<boolean> {
    return hasListeners(tx, nowSecs(this.#deps.clock))
  }

  async tellAll(tx: Writer, tenantIds: readonly TenantId[], notice: Notice): Promise<void> {
    const wanting = await appendNotices(tx, tenantIds, { notice, at: nowSecs(this.#deps.clock) })
    tx.afterCommit(() => {
      for (const tenantId of wanting) this.#numbers.request(tenantId)
    })
  }

  pass(tenantId: TenantId, notice: Notice): void {
    this.#hint(tenantId, { notice })
  }

  async join(
    visit: SocketVisit<HeldCredential>,
    caller: Identified,
    { isReplaying } = { isReplaying: false },
  ): Promise<Connection> {
    const { tenant } = visit
    const { feed } = this.#open(tenant)
    const connection = new Connection(this.#deps, visit, caller)
    connection.isReplaying = isReplaying
    feed.connections.add(connection)
    try {
      feed.start(connection, await this.#wantLog(tenant.tenantId))
    } catch (error) {
      this.leave(connection)
      throw error
    }
    this.#presence.note(connection, 'active')
    return connection
  }

  leave(connection: Connection): void {
    const { tenantId } = connection.visit.tenant
    this.#presence.leave(connection)
    const open = this.#feeds.get(tenantId)
    if (!open?.feed.connections.delete(connection) || open.feed.connections.size > 0) return
    open.unsubscribe()
    open.feed.close()
    this.#feeds.delete(tenantId)
    if (this.#feeds.size > 0) return
    this.#look.stop()
  }

  async replay(connection: Connection, since: number): Promise<boolean> {
    const open = this.#feeds.get(connection.visit.tenant.tenantId)
    return open !== undefined && (await open.feed.replay(connection, since))
  }

  notePresence(connection: Connection, state: 'active' | 'idle'): void {
    const open = this.#feeds.get(connection.visit.tenant.tenantId)
    if (open?.feed.connections.has(connection)) this.#presence.note(connection, state)
  }

  isConnected(tenantId: TenantId, idTag: IdTag): Promise<boolean> {
    return this.#presence.isConnected(tenantId, idTag)
  }

  async settled(): Promise<void> {
    await this.#numbers.settled()
    await this.#look.settled()
    for (const { feed } of this.#feeds.values()) await feed.settled()
  }

  async close(): Promise<void> {
    this.#look.stop()
    this.#presence.close()
    for (const { feed, unsubscribe } of this.#feeds.values()) {
      unsubscribe()
      feed.close()
    }
    await this.#numbers.close()
    await this.#look.settled()
    for (const { feed } of this.#feeds.values()) await feed.settled()
    this.#feeds.clear()
  }

  #hint(tenantId: TenantId, hint: Hint): void {
    this.#deps.bus.publish(channelOf(tenantId), JSON.stringify(hint))
  }

  #open(tenant: Tenant): OpenFeed {
    const known = this.#feeds.get(tenant.tenantId)
    if (known) return known
    const feed = new TenantFeed(this.#deps, tenant)
    const unsubscribe = this.#deps.bus.subscribe(channelOf(tenant.tenantId), {
      onMessage(message) {
        const hint = JSON.parse(message) as Hint
        if ('seq' in hint) feed.advance(hint.seq)
        else feed.pass(hint.notice)
      },
      onGap: () => void this.#look.run(),
    })
    const open = { feed, unsubscribe }
    this.#feeds.set(tenant.tenantId, open)
    this.#look.start()
    return open
  }

  /** The last number of a log in which events are written from now on. */
  async #wantLog(tenantId: TenantId): Promise<number> {
    const now = nowSecs(this.#deps.clock)
    const reader = this.#db.reader(tenantId)
    const log = await findLog(reader)
    // Extended once a day, not with each connection.
    if (log && log.wantedUntil - now > busWindow.seconds - daySecs) return log.lastSeq
    return await this.#db.transact(tenantId, async (tx) => {
      await wantLog(tx, { now, until: now + busWindow.seconds })
      return (await findLog(tx))?.lastSeq ?? 0
    })
  }

  /** How far the logs have come: one query for all tenants whose clients are here. */
  async #readLogs(): Promise<void> {
    const tenantIds = [...this.#feeds.keys()]
    if (tenantIds.length === 0) return
    for (const { tenantId, lastSeq, hasUnnumbered } of await listLogs(
      this.#db.reader(serverTenant),
      tenantIds,
    )) {
      // A process that died has left them to the others.
      if (hasUnnumbered) this.#numbers.request(tenantId)
      this.#feeds.get(tenantId)?.feed.advance(lastSeq)
    }
  }
}

function channelOf(tenantId: TenantId): string {
  return `tenant:${tenantId}`
}
