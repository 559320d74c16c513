import { Gate, GateFullError, type GateLimits } from '#lib/gate.ts'

/** For a process, by tenant. The texts of those that wait are bounded with everything that is received. */
export const longRequestLimits = {
  total: 2,
  perKey: 1,
  waitingPerKey: 50,
  waiting: 1000,
} as const satisfies GateLimits

/** Lets few long requests at a time be values in memory: parsed they are many times as large as their text. */
export class LongRequests {
  readonly #gate = new Gate(longRequestLimits)

  /** Does the work when there is room. 'full' when too many wait, 'gone' when the signal was aborted before. */
  async run(
    tenantId: number,
    signal: AbortSignal,
    work: () => Promise<void>,
  ): Promise<'done' | 'full' | 'gone'> {
    let leave: () => void
    try {
      leave = await this.#gate.enter(String(tenantId), signal)
    } catch (error) {
      return error instanceof GateFullError ? 'full' : 'gone'
    }
    try {
      await work()
      return 'done'
    } finally {
      leave()
    }
  }
}
