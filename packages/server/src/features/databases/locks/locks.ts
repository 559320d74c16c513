import { type RtdbAnswers, type RtdbLockMode, rtdbLimits } from '@kith/protocol'
import type { Database, Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import type { DatabaseKey } from '../engine/database.ts'
import { lockDatabase } from '../engine/database-store.ts'
import { RtdbFailure } from '../engine/rtdb-failure.ts'
import type { HeldLock } from './held-lock.ts'
import { deleteExpiredLocks, deleteLock, deleteLocksOf, findLock, listLocks, putLock } from './lock-store.ts'

/** A message between processes about a lock. */
export interface LockNews {
  readonly kind: 'lock' | 'unlock'
  readonly lock: HeldLock
}

interface LocksDeps {
  readonly db: Database
  readonly clock: Clock
  readonly logger: { error(fields: object, message: string): void }
  readonly key: DatabaseKey
  /** To all processes, this one included. */
  publish(news: LockNews): void
  /** To the subscriptions of this process. */
  tell(news: LockNews): void
}

interface Asking {
  readonly path: string
  readonly holder: string
  readonly connId: string
}

// Of one database.
const maxLocks = 1000

/** The locks of one database. They are stored as rows; this object knows those that its subscriptions were told of. */
export class Locks {
  readonly #deps: LocksDeps
  // Bounded by the rows.
  readonly #known = new Map<string, HeldLock>()
  #changes = 0
  #callOff: (() => void) | undefined
  #looking: Promise<void> | undefined
  #isClosed = false

  constructor(deps: LocksDeps) {
    this.#deps = deps
  }

  get known(): Iterable<HeldLock> {
    return this.#known.values()
  }

  async lock(asking: Asking, mode: RtdbLockMode): Promise<RtdbAnswers['lockResult']> {
    const { db, clock, key } = this.#deps
    const now = nowSecs(clock)
    // By what this process knows: counting rows would conflict with the transactions of others.
    if (this.#known.size >= maxLocks && !this.#known.has(asking.path))
      throw new RtdbFailure(429, 'this database has too many locks')
    const lock = { ...asking, mode, expiresAt: now + rtdbLimits.lockSecs }
    const take = async (tx: Writer): Promise<RtdbAnswers['lockResult']> => {
      // Serialises with transactions: one that found no lock has ended before this one is added.
      await lockDatabase(tx, key.fileId)
      const held = await findLock(tx, key.fileId, asking.path)
      if (held && held.expiresAt > now && held.holder !== asking.holder)
        return { locked: false, holder: held.holder, mode: held.mode }
      await putLock(tx, key.fileId, lock)
      tx.afterCommit(() => this.#deps.publish({ kind: 'lock', lock }))
      return { locked: true }
    }
    return await db.transact(key.tenantId, take, { isolation: 'read-committed' })
  }

  /** Deletes a lock of this holder, whichever of its connections took it. */
  async unlock({ path, holder }: Omit<Asking, 'connId'>): Promise<void> {
    const { db, key } = this.#deps
    await db.transact(key.tenantId, async (tx) => {
      const held = await findLock(tx, key.fileId, path)
      if (held?.holder !== holder) return
      await deleteLock(tx, key.fileId, path)
      tx.afterCommit(() => this.#deps.publish({ kind: 'unlock', lock: held }))
    })
  }

  /** Deletes the locks that a connection has taken. */
  async release(connId: string): Promise<void> {
    const { db, key } = this.#deps
    await db.transact(key.tenantId, async (tx) => {
      for (const lock of await deleteLocksOf(tx, key.fileId, connId))
        tx.afterCommit(() => this.#deps.publish({ kind: 'unlock', lock }))
    })
  }

  /** Applies a message of this process or another. */
  apply(news: LockNews): void {
    this.#changes += 1
    const { path } = news.lock
    const known = this.#known.get(path)
    if (news.kind === 'unlock') {
      if (!this.#known.delete(path)) return
      this.#deps.tell(news)
      return
    }
    if (known && known.holder !== news.lock.holder) this.#deps.tell({ kind: 'unlock', lock: known })
    this.#known.set(path, news.lock)
    this.#arm()
    const isRefreshed =
      known?.holder === news.lock.holder && known.connId === news.lock.connId && known.mode === news.lock.mode
    if (!isRefreshed) this.#deps.tell(news)
  }

  /** Reads all locks, and tells the changes that were missed. */
  look(): Promise<void> {
    this.#looking ??= this.#reconcile()
      .catch((error: unknown) =>
        this.#deps.logger.error({ err: error }, 'the locks of a database could not be read'),
      )
      .finally(() => {
        this.#looking = undefined
        this.#arm()
      })
    return this.#looking
  }

  async settled(): Promise<void> {
    await this.#looking
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#callOff?.()
    await this.#looking
  }

  async #reconcile(): Promise<void> {
    const { db, clock, key } = this.#deps
    for (;;) {
      const changes = this.#changes
      const rows = await listLocks(db.reader(key.tenantId), key.fileId)
      // A message that came meanwhile may be newer than the rows.
      if (changes !== this.#changes) continue
      const now = nowSecs(clock)
      const live = new Map(rows.filter(({ expiresAt }) => expiresAt > now).map((row) => [row.path, row]))
      for (const lock of [...this.#known.values()])
        if (!live.has(lock.path)) this.apply({ kind: 'unlock', lock })
      for (const lock of live.values()) this.apply({ kind: 'lock', lock })
      if (live.size < rows.length) await this.#deleteExpired(now)
      return
    }
  }

  async #deleteExpired(now: number): Promise<void> {
    const { db, key } = this.#deps
    await db.transact(key.tenantId, (tx) => deleteExpiredLocks(tx, key.fileId, now), { isBackground: true })
  }

  /** Waits for the first of the known locks to expire. */
  #arm(): void {
    this.#callOff?.()
    this.#callOff = undefined
    if (this.#known.size === 0 || this.#isClosed) return
    const { clock } = this.#deps
    const first = Math.min(...[...this.#known.values()].map(({ expiresAt }) => expiresAt))
    // A look that failed is tried again a second later.
    const atMs = Math.max(first * 1000, clock.now() + 1000)
    this.#callOff = clock.wakeAt(atMs, () => void this.look())
  }
}
