import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'

// A long-poll costs a timer and a read per second; 1 000 of them are a few per cent of a core.
const maxWaiters = 1000
const maxPerSession = 4
// An answer given on another node is seen this soon; one given here at once.
const lookAgainMs = 1000

/** Lets long-polls wait for an answer to their QR session, here or on another node. */
export class QrWaiters {
  readonly #clock: Clock
  // By session id; bounded by `maxWaiters` in all.
  readonly #waiting = new Map<string, Set<() => void>>()
  #total = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls `look` until it answers, the time is over or the client is gone. `E-RATELIMIT` when too many wait. */
  async wait<Found>(
    { sessionId, untilMs, signal }: { sessionId: string; untilMs: number; signal: AbortSignal },
    look: () => Promise<Found | undefined>,
  ): Promise<Found | undefined> {
    const found = await look()
    if (found !== undefined || untilMs <= this.#clock.now()) return found
    const ofSession = this.#waiting.get(sessionId) ?? new Set()
    if (this.#total >= maxWaiters || ofSession.size >= maxPerSession)
      throw new Failure('E-RATELIMIT', {
        retryAfterSecs: 5,
        limit: ofSession.size >= maxPerSession ? maxPerSession : maxWaiters,
      })
    for (;;) {
      await this.#pause(sessionId, Math.min(untilMs, this.#clock.now() + lookAgainMs), signal)
      const later = await look()
      if (later !== undefined || signal.aborted || untilMs <= this.#clock.now()) return later
    }
  }

  /** Ends the pause of every status request that is held open for this session. */
  wake(sessionId: string): void {
    for (const wake of this.#waiting.get(sessionId) ?? []) wake()
  }

  async #pause(sessionId: string, untilMs: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const ofSession = this.#waiting.get(sessionId) ?? new Set()
    this.#waiting.set(sessionId, ofSession.add(resolve))
    this.#total += 1
    const callOff = this.#clock.wakeAt(untilMs, resolve)
    const onAbort = () => resolve()
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) resolve()
    await promise
    signal.removeEventListener('abort', onAbort)
    callOff()
    this.#total -= 1
    ofSession.delete(resolve)
    if (ofSession.size === 0) this.#waiting.delete(sessionId)
  }
}
