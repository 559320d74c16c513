import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'

interface TurnLimits {
  readonly total: number
  /** So long nobody else's wish ends an export. */
  readonly safeMs: number
  /** Whoever takes so much, on the average, is never cut off for another. */
  readonly safeBytesPerSec: number
}

interface Turn {
  readonly startedMs: number
  sentBytes(): number
  end(): void
}

const defaultLimits: TurnLimits = { total: 8, safeMs: 10 * 60_000, safeBytesPerSec: 128 * 1024 }
const retryAfterSecs = 60

/** Bounds the exports that a process sends at a time. Where there is no room the slowest reader gives way, if it has had its
 * time and is slow indeed: with eight that hardly read nobody keeps the others from their exports. */
export class ExportTurns {
  readonly #clock: Clock
  readonly #limits: TurnLimits
  // `total` at most.
  readonly #turns = new Set<Turn>()

  constructor(clock: Clock, limits: TurnLimits = defaultLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  /** Answers the function that ends the turn. Throws `E-RATELIMIT`. */
  enter({ sentBytes, cutOff }: { sentBytes(): number; cutOff(): void }): () => void {
    if (this.#turns.size >= this.#limits.total) this.#makeRoom()
    const leave = () => {
      this.#turns.delete(turn)
    }
    const end = () => {
      leave()
      cutOff()
    }
    const turn: Turn = { startedMs: this.#clock.now(), sentBytes, end }
    this.#turns.add(turn)
    return leave
  }

  #makeRoom(): void {
    const { safeMs, safeBytesPerSec } = this.#limits
    let slowest: { readonly turn: Turn; readonly rate: number } | undefined
    for (const turn of this.#turns) {
      const ms = this.#clock.now() - turn.startedMs
      const rate = (turn.sentBytes() * 1000) / ms
      if (ms >= safeMs && rate < Math.min(safeBytesPerSec, slowest?.rate ?? Number.POSITIVE_INFINITY))
        slowest = { turn, rate }
    }
    if (!slowest)
      throw new Failure('E-RATELIMIT', {
        message: 'Too many accounts are exported at a time.',
        retryAfterSecs,
      })
    slowest.turn.end()
  }
}
