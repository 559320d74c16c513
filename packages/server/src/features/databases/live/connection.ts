import type { HeldCredential } from '#features/accounts/index.ts'
import type { LiveFile } from '#features/files/index.ts'
import type { SocketVisit } from '#infra/ws/index.ts'
import { randomId } from '../socket/frames.ts'
import type { Listening } from '../subscriptions/listening.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import type { Allowance } from '../subscriptions/subscription-budget.ts'

// As many as may wait to be sent (docs/protocol/realtime.md, Common rules).
const maxHeld = 1000

/** One client of a database. */
export class Connection implements Listening {
  readonly connId = randomId()
  readonly visit: SocketVisit<HeldCredential>
  readonly file: LiveFile
  readonly allowance: Allowance
  /** Bounded where they are opened. */
  readonly subscriptions = new Map<string, Subscription>()
  /** Whether there may be locks that end with it. */
  hasLocked = false
  #held: string[] | undefined

  constructor(visit: SocketVisit<HeldCredential>, file: LiveFile, allowance: Allowance) {
    this.visit = visit
    this.file = file
    this.allowance = allowance
  }

  /** The holder of its locks, and the account whose `txId`s its transactions have. */
  get holder(): string {
    return this.file.idTag ?? `anon:${this.connId}`
  }

  push(text: string): void {
    if (!this.#held) this.visit.socket.send(text)
    else if (this.#held.length >= maxHeld) this.overload()
    else this.#held.push(text)
  }

  overload(): void {
    if (this.#held) this.#held = []
    this.visit.socket.close('overloaded')
  }

  /** Holds events back until the current request is answered. */
  hold(): void {
    this.#held ??= []
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const text of held) this.push(text)
  }
}
