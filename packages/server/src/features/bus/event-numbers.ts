import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { numberEvents } from './event-log-store.ts'

interface NumbersDeps {
  readonly db: Database
  readonly clock: Clock
  readonly logger: { error(fields: object, message: string): void }
  /** Told of logs that have come so far. */
  readonly onNumbered: (tenantId: TenantId, lastSeq: number) => void
}

const tenantsAtOnce = 100
const retryMs = 1000

/** Numbers events after their commit, so that a number says in which order they became visible. What comes while that
 * goes on is numbered together. */
export class EventNumbers {
  readonly #deps: NumbersDeps
  // Bound: the tenants of the server whose clients listen.
  readonly #waiting = new Set<TenantId>()
  #running: Promise<void> | undefined
  #isClosed = false

  constructor(deps: NumbersDeps) {
    this.#deps = deps
  }

  /** Events of this tenant wait for their numbers. */
  request(tenantId: TenantId): void {
    this.#waiting.add(tenantId)
    this.#run()
  }

  /** Resolves when nothing waits. */
  async settled(): Promise<void> {
    while (this.#running) await this.#running
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#running
  }

  #run(): void {
    if (this.#isClosed) return
    this.#running ??= this.#numberAll().finally(() => {
      this.#running = undefined
    })
  }

  async #numberAll(): Promise<void> {
    const { clock, logger } = this.#deps
    while (this.#waiting.size > 0 && !this.#isClosed) {
      // In one order everywhere: two processes must not wait for each other.
      const tenantIds = [...this.#waiting].slice(0, tenantsAtOnce).sort((a, b) => a - b)
      for (const tenantId of tenantIds) this.#waiting.delete(tenantId)
      try {
        await this.#number(tenantIds)
      } catch (error) {
        logger.error({ err: error }, 'events could not be numbered')
        // They are in the database; the next look at the logs finds them as well.
        clock.wakeAt(clock.now() + retryMs, () => {
          for (const tenantId of tenantIds) this.#waiting.add(tenantId)
          this.#run()
        })
        return
      }
    }
  }

  async #number(tenantIds: readonly TenantId[]): Promise<void> {
    const { db, onNumbered } = this.#deps
    const numbered = await db.transact(
      serverTenant,
      async (tx) => {
        const logs: [TenantId, number][] = []
        for (const tenantId of tenantIds) logs.push([tenantId, await numberEvents(tx.as(tenantId))])
        return logs
      },
      // Rows are claimed by lock; that others add events meanwhile is no conflict.
      { isolation: 'read-committed' },
    )
    for (const [tenantId, lastSeq] of numbered) onNumbered(tenantId, lastSeq)
  }
}
