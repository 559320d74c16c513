import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { createLruCache } from '#lib/lru-cache.ts'
import { updateLastUse } from './session-store.ts'

const precisionSecs = 60
const flushAfterMs = 1_000
// Sessions noted within the last minute; one that falls out early is only written once more.
const maxRemembered = 5000
// Notes between two flushes. What comes on top is dropped: it comes again with the next request.
const maxPending = 5_000

interface Note {
  readonly tenantId: TenantId
  readonly sid: string
  readonly usedAt: number
}

/** Writes down when sessions were last used: at most once a minute each, many in one transaction, and never while a
 * request waits. */
export class LastUse implements AsyncDisposable {
  readonly #db: Database
  readonly #clock: Clock
  readonly #noted = createLruCache<string, number>(maxRemembered)
  #pending: Note[] = []
  #callOff: (() => void) | undefined
  #flushing: Promise<void> = Promise.resolve()

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  note(tenantId: TenantId, session: { readonly sid: string; readonly lastUsedAt: number }): void {
    const now = nowSecs(this.#clock)
    if (now - session.lastUsedAt < precisionSecs) return
    const key = `${tenantId} ${session.sid}`
    if (now - (this.#noted.get(key) ?? 0) < precisionSecs || this.#pending.length >= maxPending) return
    this.#noted.set(key, now)
    this.#pending.push({ tenantId, sid: session.sid, usedAt: now })
    this.#callOff ??= this.#clock.wakeAt(this.#clock.now() + flushAfterMs, () => void this.flush())
  }

  /** Resolves when everything noted so far is written, or given up. */
  flush(): Promise<void> {
    this.#callOff?.()
    this.#callOff = undefined
    const notes = this.#pending
    this.#pending = []
    if (notes.length > 0) this.#flushing = this.#flushing.then(() => this.#write(notes))
    return this.#flushing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush()
  }

  async #write(notes: readonly Note[]): Promise<void> {
    try {
      await this.#db.transact(serverTenant, async (tx) => {
        for (const { tenantId, sid, usedAt } of notes) await updateLastUse(tx.as(tenantId), sid, usedAt)
      })
    } catch {
      // The database says itself that it is down; the next use after a minute is noted again.
    }
  }
}
