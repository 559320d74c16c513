import { changeText, randomId } from '../socket/frames.ts'
import type { Listening } from './listening.ts'
import type { SubscriptionCost } from './subscription-budget.ts'
import type { View } from './view.ts'

// Events while the first state is read. With more of them the client starts anew.
const maxWaiting = 1000

/** What a client was shown when its subscription began: the state after the change `seq`, and the locks after this lock event. */
interface ShownFirst {
  readonly seq: number
  readonly lockEvents: number
}

/** What one client hears of a view. */
export class Subscription {
  readonly id = randomId()
  readonly listening: Listening
  readonly view: View
  readonly cost: SubscriptionCost
  #waiting: { readonly seq: number; readonly event: string }[] = []
  #startedAt: ShownFirst | undefined

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
    } else if (seq > this.#startedAt.seq) this.#push(event)
  }

  /** A lock event, unless the client was shown what it made of the locks. */
  tellLock(number: number, event: string): void {
    if (this.#startedAt && number > this.#startedAt.lockEvents) this.#push(event)
  }

  /** The client has been shown this: what came since follows. */
  start(shown: ShownFirst): void {
    this.#startedAt = shown
    const waiting = this.#waiting
    this.#waiting = []
    for (const { seq, event } of waiting) this.tell(seq, event)
  }

  #push(event: string): void {
    this.listening.push(changeText(this.id, event))
  }
}
