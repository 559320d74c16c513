import { randomUUID } from 'node:crypto'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
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
  #cancelRenewal: (() => void) | undefined

  constructor(deps: LeaseDeps) {
    this.#deps = deps
  }

  /** When a reservation ends that is not renewed, Unix seconds. */
  get expiresAt(): number {
    return nowSecs(this.#deps.clock) + leaseSecs
  }

  /** From before a reservation is made until it is used or given back. */
  hold(): Disposable {
    this.#held += 1
    this.#cancelRenewal ??= this.#renewLater()
    return {
      [Symbol.dispose]: () => {
        this.#held -= 1
        if (this.#held === 0) this.#stop()
      },
    }
  }

  #stop(): void {
    this.#cancelRenewal?.()
    this.#cancelRenewal = undefined
  }

  #renewLater(): () => void {
    const { clock } = this.#deps
    return clock.wakeAt(clock.now() + renewalMs, () => void this.#renew())
  }

  async #renew(): Promise<void> {
    try {
      const { holder } = this
      await this.#deps.db.transact(serverTenant, (tx) =>
        renewLeases(tx, { holder, expiresAt: this.expiresAt }),
      )
    } catch {
      // The database is away: the next renewal may come in time.
    }
    this.#stop()
    if (this.#held > 0) this.#cancelRenewal = this.#renewLater()
  }
}
