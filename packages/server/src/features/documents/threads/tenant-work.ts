import type { TenantId } from '#infra/db/index.ts'

// The processor time that a tenant may use at once, and regains per second, in milliseconds.
const burstMs = 5000
const perSecondMs = 250
// How long the documents of a tenant stay in the thread for slow ones after one of them blocked a shared thread.
const apartMs = 600_000

interface Used {
  readonly ms: number
  readonly atMs: number
  readonly apartUntilMs: number
}

/** The processor time that the documents of each tenant use in threads. */
export class TenantWork {
  // In the order of their last use. Bound: tenants that used some in the last ten minutes.
  readonly #used = new Map<TenantId, Used>()
  readonly #now: () => number

  constructor(now = () => performance.now()) {
    this.#now = now
  }

  note(tenantId: TenantId, ms: number): void {
    this.#set(tenantId, ms, this.#used.get(tenantId)?.apartUntilMs ?? 0)
  }

  /** A document of the tenant has blocked a shared thread. */
  keepApart(tenantId: TenantId): void {
    this.#set(tenantId, 0, this.#now() + apartMs)
  }

  /** Whether documents of the tenant belong into the thread for slow ones. */
  isApart(tenantId: TenantId): boolean {
    const used = this.#used.get(tenantId)
    return used !== undefined && (used.apartUntilMs > this.#now() || this.waitMs(tenantId) > 0)
  }

  /** How long slow documents of the tenant have to wait. */
  waitMs(tenantId: TenantId): number {
    return (Math.max(0, this.usedMs(tenantId) - burstMs) / perSecondMs) * 1000
  }

  /** What it has used and not got back yet. */
  usedMs(tenantId: TenantId): number {
    const used = this.#used.get(tenantId)
    return used ? Math.max(0, used.ms - ((this.#now() - used.atMs) / 1000) * perSecondMs) : 0
  }

  #set(tenantId: TenantId, moreMs: number, apartUntilMs: number): void {
    const now = this.#now()
    const ms = this.usedMs(tenantId) + moreMs
    this.#used.delete(tenantId)
    this.#used.set(tenantId, { ms, atMs: now, apartUntilMs })
    for (const [oldest, { atMs }] of this.#used) {
      if (now - atMs < apartMs) return
      this.#used.delete(oldest)
    }
  }
}
