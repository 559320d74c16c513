import type { Logger } from '#infra/telemetry/index.ts'
import type { Clock } from '#lib/clock.ts'

/** Log lines that a client can cause. */
type RareLine =
  | 'a zone transfer was refused'
  | 'a DNS question could not be answered'
  | 'a DNS connection failed'

const restMs = 60_000

/** Writes each of these lines at most once a minute, so that clients cannot flood the log. */
export class RareLines {
  readonly #deps: { readonly clock: Pick<Clock, 'now'>; readonly logger: Logger }
  readonly #written = new Map<RareLine, { readonly atMs: number; leftOut: number }>()

  constructor(deps: { readonly clock: Pick<Clock, 'now'>; readonly logger: Logger }) {
    this.#deps = deps
  }

  /** `leftOut` of a written line is the number of those that were not written since the last one. */
  write(level: 'warn' | 'error', fields: Readonly<Record<string, unknown>>, line: RareLine): void {
    const { clock, logger } = this.#deps
    const nowMs = clock.now()
    const last = this.#written.get(line)
    if (last && nowMs < last.atMs + restMs) {
      last.leftOut += 1
      return
    }
    this.#written.set(line, { atMs: nowMs, leftOut: 0 })
    logger[level]({ ...fields, ...(last?.leftOut ? { leftOut: last.leftOut } : {}) }, line)
  }
}
