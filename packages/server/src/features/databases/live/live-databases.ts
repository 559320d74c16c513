import type { FileId } from '@kith/protocol'
import type { TenantId } from '#infra/db/index.ts'
import { PeriodicWork } from '#lib/periodic-work.ts'
import type { DatabaseKey, LoggedChanges } from '../engine/database.ts'
import { type Allowance, type Subscriber, SubscriptionBudget } from '../subscriptions/subscription-budget.ts'
import type { Connection } from './connection.ts'
import { listLastSeqs } from './database-seq-store.ts'
import { channelOf, hintOf, LiveDatabase } from './live-database.ts'
import type { LiveDeps } from './live-deps.ts'

// Finds writes of other processes whose hint was lost, or where hints do not reach this process.
const lookEveryMs = 3000

/** The databases that clients of this process have open. */
export class LiveDatabases {
  readonly #deps: LiveDeps
  readonly #budget = new SubscriptionBudget()
  // Bounded by the sockets.
  readonly #open = new Map<string, { readonly live: LiveDatabase; readonly started: Promise<void> }>()
  // Locks that end with their connections: as many as there were sockets.
  readonly #ending = new Set<Promise<void>>()
  readonly #look: PeriodicWork

  constructor(deps: Omit<LiveDeps, 'onGap'>) {
    this.#deps = { ...deps, onGap: () => void this.#look.run() }
    this.#look = new PeriodicWork({
      clock: deps.clock,
      everyMs: lookEveryMs,
      work: () => this.#lookAtAll(),
      onError: (error) =>
        deps.logger.error({ err: error }, 'the numbers of open databases could not be read'),
    })
  }

  /** What the subscriptions of this client may take. */
  allowanceOf(subscriber: Subscriber): Allowance {
    return this.#budget.of(subscriber)
  }

  /** Opens the database for a connection, which is told its changes from now on. */
  async join(connection: Connection): Promise<LiveDatabase> {
    const { tenantId, fileId } = connection.file
    const open = this.#opened({ tenantId, fileId })
    open.live.connections.add(connection)
    try {
      await open.started
    } catch (error) {
      this.leave(connection)
      throw error
    }
    return open.live
  }

  /** Ends the subscriptions, the locks and the presence of a connection. */
  leave(connection: Connection): void {
    const { tenantId, fileId } = connection.file
    const live = this.#open.get(nameOf({ tenantId, fileId }))?.live
    if (!live?.connections.delete(connection)) return
    for (const subscription of connection.subscriptions.values()) live.subscriptions.close(subscription)
    connection.subscriptions.clear()
    live.presence.leave(connection.connId)
    this.#end(this.#goodbye(live, connection))
  }

  /** A change that no client of a socket made, such as a restored state. */
  noteChanged(key: DatabaseKey, changed: LoggedChanges): void {
    const live = this.#open.get(nameOf(key))?.live
    if (live) live.applied(changed)
    else this.#deps.bus.publish(channelOf(key), hintOf(changed))
  }

  /** Resolves when all committed changes were told. */
  async settled(): Promise<void> {
    await Promise.all(this.#ending)
    await this.#look.settled()
    for (const { live } of this.#open.values()) await live.settled()
  }

  async close(): Promise<void> {
    this.#look.stop()
    await Promise.all(this.#ending)
    await this.#look.settled()
    await Promise.all([...this.#open.values()].map(({ live }) => live.close()))
    this.#open.clear()
  }

  #opened(key: DatabaseKey) {
    const known = this.#open.get(nameOf(key))
    if (known) return known
    const live = new LiveDatabase(this.#deps, key)
    const open = { live, started: this.#start(live) }
    this.#open.set(nameOf(key), open)
    // A SQLite file belongs to one process, which is notified of its own changes.
    if (this.#deps.db.dialect === 'postgres') this.#look.start()
    return open
  }

  async #start(live: LiveDatabase): Promise<void> {
    const { tenantId, fileId } = live.key
    const seqs = await listLastSeqs(this.#deps.db.reader(tenantId), [fileId])
    live.start(seqs.get(fileId) ?? 0)
    await live.locks.look()
  }

  /** Releases the locks of a connection that has ended, and closes the database after the last connection: other processes are
   * told of the locks before. */
  async #goodbye(live: LiveDatabase, { connId, hasLocked }: Connection): Promise<void> {
    // Locks that cannot be released now expire by themselves.
    if (hasLocked)
      await live.locks
        .release(connId)
        .catch((error: unknown) => this.#deps.logger.error({ err: error }, 'locks were not released'))
    if (live.connections.size > 0 || this.#open.get(nameOf(live.key))?.live !== live) return
    this.#open.delete(nameOf(live.key))
    if (this.#open.size === 0) this.#look.stop()
    await live.close()
  }

  #end(ending: Promise<void>): void {
    this.#ending.add(ending)
    void ending.finally(() => this.#ending.delete(ending))
  }

  /** Reads the last numbers of all open databases. */
  async #lookAtAll(): Promise<void> {
    const byTenant = Map.groupBy([...this.#open.values()], ({ live }) => live.key.tenantId)
    for (const [tenantId, open] of byTenant) await this.#lookAt(tenantId, open)
  }

  async #lookAt(tenantId: TenantId, open: readonly { readonly live: LiveDatabase }[]): Promise<void> {
    const fileIds: FileId[] = open.map(({ live }) => live.key.fileId)
    const seqs = await listLastSeqs(this.#deps.db.reader(tenantId), fileIds)
    for (const { live } of open) {
      live.advance(seqs.get(live.key.fileId) ?? 0)
      if (!live.subscriptions.isEmpty) await live.locks.look()
    }
  }
}

function nameOf({ tenantId, fileId }: DatabaseKey): string {
  return `${tenantId} ${fileId}`
}
