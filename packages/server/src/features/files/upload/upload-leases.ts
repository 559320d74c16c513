import { randomUUID } from 'node:crypto'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { PeriodicWork } from '#lib/periodic-work.ts'
import { renewLeases } from './lease-store.ts'

/** So long what an upload has set aside outlives its process. */
const leaseSecs = 40
const renewalMs = 10_000

interface LeaseDeps {
  readonly db: Database
  readonly clock: Clock
}

/** Keeps what the uploads of this process have set aside for as long as they run, and no longer than the process. */
export class UploadLeases {
  /** Whose reservations these are: it does not survive the process. */
  readonly holder = randomUUID()
  readonly #deps: LeaseDeps
  #held = 0
  readonly #renewal: PeriodicWork

  constructor(deps: LeaseDeps) {
    this.#deps = deps
    this.#renewal = new PeriodicWork({
      clock: deps.clock,
      everyMs: renewalMs,
      work: () => this.#renew(),
      // The database is away: the next renewal may come in time.
      onError: () => undefined,
    })
  }

  /** When a reservation ends that is not renewed, Unix seconds. */
  get expiresAt(): number {
    return nowSecs(this.#deps.clock) + leaseSecs
  }

  /** From before a reservation is made until it is used or given back. */
  hold(): Disposable {
    this.#held += 1
    this.#renewal.start()
    return {
      [Symbol.dispose]: () => {
        this.#held -= 1
        if (this.#held === 0) this.#renewal.stop()
      },
    }
  }

  async #renew(): Promise<void> {
    const { holder, expiresAt } = this
    await this.#deps.db.transact(serverTenant, (tx) => renewLeases(tx, { holder, expiresAt }))
  }
}
