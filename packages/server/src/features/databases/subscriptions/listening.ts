import type { Allowance } from './subscription-budget.ts'

/** The client that has subscriptions. */
export interface Listening {
  readonly connId: string
  /** What its subscriptions may take. */
  readonly allowance: Allowance
  /** Sends an event; a client that is too slow for it is disconnected. */
  push(text: string): void
  /** Disconnects a client that was sent too much at once: it reconnects. */
  overload(): void
}
