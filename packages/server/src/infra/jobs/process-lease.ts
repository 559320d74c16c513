import { randomUUID } from 'node:crypto'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { addLease, extendLease } from './job-lease-store.ts'

export interface LeaseOptions {
  readonly db: Database
  readonly nodeId: string
  /** How long the jobs of a process that died wait for another. */
  readonly leaseMs: number
}

/** What a process holds its jobs by: one row, renewed at a third of its time while anything runs. */
export class ProcessLease {
  readonly #options: LeaseOptions
  #token = randomUUID()
  /** 0 while there is none. */
  #untilMs = 0

  constructor(options: LeaseOptions) {
    this.#options = options
  }

  /** Tells the jobs of this process from those of others, and from those it has lost. */
  get token(): string {
    return this.#token
  }

  get renewAtMs(): number {
    return this.#untilMs - (this.#options.leaseMs * 2) / 3
  }

  isDue(nowMs: number): boolean {
    // Further away than it can be: the clock was set back.
    return this.renewAtMs <= nowMs || this.#untilMs > nowMs + this.#options.leaseMs
  }

  /** True when it ran out, and others may have what was held by it: the next renewal begins a new one. */
  endIfOver(nowMs: number): boolean {
    if (this.#untilMs > nowMs) return false
    this.#untilMs = 0
    return true
  }

  /** False when the former lease was lost, with all that was held by it. */
  async renew(nowMs: number): Promise<boolean> {
    const { db, nodeId, leaseMs } = this.#options
    const isFirst = this.#untilMs === 0
    const untilMs = nowMs + leaseMs
    const token = await db.transact(
      serverTenant,
      async (tx) => {
        if (!isFirst && (await extendLease(tx, { leaseToken: this.#token, untilMs }))) return this.#token
        const leaseToken = randomUUID()
        await addLease(tx, { leaseToken, nodeId, untilMs })
        return leaseToken
      },
      { isolation: 'read-committed', isBackground: true },
    )
    const isHeld = isFirst || token === this.#token
    this.#token = token
    this.#untilMs = untilMs
    return isHeld
  }
}
