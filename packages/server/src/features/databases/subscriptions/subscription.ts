import { changeText, randomId } from '../socket/frames.ts'
import type { Listening } from './listening.ts'
import type { SubscriptionCost } from './subscription-budget.ts'
import type { View } from './view.ts'

// Events while the first state is read. With more of them the client starts anew.
const maxWaiting = 1000

/** What one client hears of a view. */
export class Subscription {
  readonly id = randomId()
  readonly listening: Listening
  readonly view: View
  readonly cost: SubscriptionCost
  #waiting: { readonly seq: number; readonly event: string }[] = []
  #startedAt: number | undefined

  constructor(listening: Listening, view: View, cost: SubscriptionCost) {
    this.listening = listening
    this.view = view
    this.cost = cost
  }

  /** An event of the change with this number. It waits for the state that the client is shown first, and is part of that
   * when its number is not greater. */
  tell(seq: number, event: string): void {
    if (this.#startedAt === undefined) {
      this.#waiting.push({ seq, event })
      if (this.#waiting.length > maxWaiting) this.listening.overload()
    } else if (seq > this.#startedAt) this.push(event)
  }

  /** Sends an event that has no number. */
  push(event: string): void {
    if (this.#startedAt !== undefined) this.listening.push(changeText(this.id, event))
  }

  /** The client has been shown the state after this change: what came since follows. */
  start(seq: number): void {
    this.#startedAt = seq
    const waiting = this.#waiting
    this.#waiting = []
    for (const { seq: at, event } of waiting) this.tell(at, event)
  }
}
