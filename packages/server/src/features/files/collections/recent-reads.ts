import type { FileId, IdTag } from '@kith/protocol'
import { type Caller, idTagOf, type Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { createLruCache } from '#lib/lru-cache.ts'
import { putRead } from './collection-store.ts'

// At most once a minute per item (docs/protocol/collections-and-settings.md).
const precisionSecs = 60
const flushAfterMs = 1_000
// Readings of the last minute; one that falls out early is only written once more.
const maxRemembered = 5000
// Readings between two flushes. What comes on top is not noted.
const maxPending = 2_000

interface Read {
  readonly tenantId: TenantId
  readonly idTag: IdTag
  readonly fileId: FileId
  readonly readAt: number
}

/** Notes who has read what for the collection `RCNT`: many readings in one transaction, and never while a reader
 * waits. */
export class RecentReads implements AsyncDisposable {
  readonly #db: Database
  readonly #clock: Clock
  readonly #noted = createLruCache<string, number>(maxRemembered)
  #pending: Read[] = []
  #callOff: (() => void) | undefined
  #flushing: Promise<void> = Promise.resolve()

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** Somebody without an identity has no collections. */
  note({ tenant, caller, fileId }: { tenant: Tenant; caller: Caller; fileId: FileId }): void {
    const idTag = idTagOf(caller)
    if (idTag === undefined) return
    const now = nowSecs(this.#clock)
    const { tenantId } = tenant
    const key = `${tenantId} ${idTag} ${fileId}`
    if (now - (this.#noted.get(key) ?? 0) < precisionSecs || this.#pending.length >= maxPending) return
    this.#noted.set(key, now)
    this.#pending.push({ tenantId, idTag, fileId, readAt: now })
    this.#callOff ??= this.#clock.wakeAt(this.#clock.now() + flushAfterMs, () => void this.flush())
  }

  /** Resolves when everything noted so far is written, or given up. */
  flush(): Promise<void> {
    this.#callOff?.()
    this.#callOff = undefined
    const reads = this.#pending
    this.#pending = []
    if (reads.length > 0) this.#flushing = this.#flushing.then(() => this.#write(reads))
    return this.#flushing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush()
  }

  async #write(reads: readonly Read[]): Promise<void> {
    try {
      await this.#db.transact(serverTenant, async (tx) => {
        for (const { tenantId, idTag, fileId, readAt } of reads)
          await putRead(tx.as(tenantId), idTag, fileId, readAt)
      })
    } catch {
      // The database says itself that it is down; a later reading is noted again.
    }
  }
}
