import type { ActionId } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import { type Connection, type ConnectionDeps, eventText } from './connection.ts'
import { findOldestSeq, listEvents } from './event-log-store.ts'
import type { Notice } from './notice.ts'
import { renderNotice } from './render-notice.ts'

export interface FeedDeps extends ConnectionDeps {
  readonly logger: { error(fields: object, message: string): void }
}

// Rows that are read at once.
const batch = 100
// Notices that wait and stand in no log. With more than that the feed could not say what was left out.
const maxPassing = 1000
// Actions whose counts are told within the second; of more than that the rest is told at once.
const maxCounted = 1000
const countsEveryMs = 1000

/** What the clients of one tenant on this process are told, one event after the other. The log is what counts: hints only
 * say that there is something new in it. */
export class TenantFeed {
  readonly tenant: Tenant
  readonly connections = new Set<Connection>()
  readonly #deps: FeedDeps
  readonly #passing: Notice[] = []
  readonly #counted = new Map<ActionId, () => void>()
  /** The event that is told now, or was last. */
  #begun = 0
  #delivered: number | undefined
  #known = 0
  #running: Promise<void> | undefined

  constructor(deps: FeedDeps, tenant: Tenant) {
    this.#deps = deps
    this.tenant = tenant
  }

  /** The connection takes part from this number on. */
  start(connection: Connection, lastSeq: number): void {
    connection.startedAt = lastSeq
    connection.position = lastSeq
    if (this.#delivered === undefined) {
      this.#delivered = lastSeq
      this.#begun = lastSeq
    }
    this.advance(lastSeq)
  }

  /** The log has come so far. */
  advance(seq: number): void {
    this.#known = Math.max(this.#known, seq)
    this.#run()
  }

  /** Tells what stands in no log. */
  pass(notice: Notice): void {
    if (notice.kind === 'STAT' && this.#delays(notice)) return
    if (this.#passing.length >= maxPassing) {
      this.#endAll('overloaded')
      return
    }
    this.#passing.push(notice)
    this.#run()
  }

  /** Resolves when everything known is told. */
  async settled(): Promise<void> {
    while (this.#running) await this.#running
  }

  close(): void {
    for (const callOff of this.#counted.values()) callOff()
    this.#counted.clear()
    this.#passing.length = 0
  }

  /** Gives a client the events after a number that it missed before it came, and then those that happened meanwhile; false when
   * not all of them are kept. */
  async replay(connection: Connection, since: number): Promise<boolean> {
    const { startedAt } = connection
    if (startedAt === undefined) return false
    const isKnown = since <= Math.max(this.#known, connection.position)
    const isPast = isKnown && since < startedAt
    const oldest = isPast ? await findOldestSeq(this.#deps.db.reader(this.tenant.tenantId)) : undefined
    connection.isReplaying = true
    if (isPast) await this.#tellOne(connection, since, startedAt)
    // What has been told to others meanwhile. Nothing is awaited between the last look and the end of the replay.
    while (connection.isOpen && connection.position < this.#begun) {
      const upTo = this.#begun
      await this.#tellOne(connection, connection.position, upTo)
      connection.position = upTo
    }
    connection.endReplay()
    return isPast ? oldest !== undefined && oldest <= since + 1 : isKnown
  }

  async #tellOne(connection: Connection, after: number, upTo: number): Promise<void> {
    const reader = this.#deps.db.reader(this.tenant.tenantId)
    let at = after
    while (at < upTo && connection.isOpen) {
      const events = await listEvents(reader, { after: at, upTo, limit: batch })
      for (const { seq, notice } of events) {
        await connection.tell(notice, seq)
        at = seq
      }
      if (events.length < batch) return
    }
  }

  #delays({ actionId }: Extract<Notice, { kind: 'STAT' }>): boolean {
    if (this.#counted.has(actionId)) return true
    if (this.#counted.size >= maxCounted) return false
    const { clock } = this.#deps
    const tell = () => {
      this.#counted.delete(actionId)
      this.#passing.push({ kind: 'STAT', actionId })
      this.#run()
    }
    this.#counted.set(actionId, clock.wakeAt(clock.now() + countsEveryMs, tell))
    return true
  }

  #run(): void {
    this.#running ??= this.#deliverAll()
      .catch((error: unknown) => {
        this.#deps.logger.error({ err: error }, 'events could not be told to the clients of a tenant')
        // Their clients reconnect and ask for what they have missed.
        this.#endAll('failed')
        this.#delivered = this.#known
      })
      .finally(() => {
        this.#running = undefined
        if (this.#hasMore()) this.#run()
      })
  }

  #hasMore(): boolean {
    return this.#passing.length > 0 || (this.#delivered !== undefined && this.#delivered < this.#known)
  }

  async #deliverAll(): Promise<void> {
    const reader = this.#deps.db.reader(this.tenant.tenantId)
    while (this.#hasMore()) {
      const passing = this.#passing.shift()
      if (passing) {
        await this.#deliver(passing, undefined)
        continue
      }
      const after = this.#delivered ?? 0
      const end = this.#known
      const events = await listEvents(reader, { after, upTo: end, limit: batch })
      for (const { seq, notice } of events) {
        this.#begun = seq
        await this.#deliver(notice, seq)
        this.#delivered = seq
      }
      if (events.length < batch) this.#delivered = end
    }
  }

  /** Reads what each account may see once, however many clients it has. */
  async #deliver(notice: Notice, seq: number | undefined): Promise<void> {
    const texts = new Map<string, string | undefined>()
    for (const connection of this.connections) {
      if (!takesPart(connection, seq)) continue
      const account = await connection.accountFor(notice.kind)
      const { idTag } = connection
      if (account && !texts.has(idTag)) {
        const data = await renderNotice(this.#deps, account, notice)
        texts.set(idTag, data === undefined ? undefined : eventText(notice.kind, data, seq))
      }
      // It may have begun to ask for the past meanwhile; then this is part of that.
      if (!takesPart(connection, seq)) continue
      const text = account && texts.get(idTag)
      if (text !== undefined) connection.send(text)
      if (seq !== undefined) connection.position = seq
    }
  }

  #endAll(why: 'failed' | 'overloaded'): void {
    for (const { visit } of this.connections) visit.socket.close(why)
  }
}

function takesPart(
  { startedAt, position, isReplaying, isOpen }: Connection,
  seq: number | undefined,
): boolean {
  if (!isOpen || startedAt === undefined) return false
  return seq === undefined || (!isReplaying && position < seq)
}
