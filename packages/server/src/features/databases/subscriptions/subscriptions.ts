import type { LoggedChanges } from '../engine/database.ts'
import { RtdbFailure } from '../engine/rtdb-failure.ts'
import type { ReadDocument } from '../engine/values.ts'
import { ChangeTexts } from './change-texts.ts'
import { DocumentView } from './document-view.ts'
import { GroupView } from './group-view.ts'
import { ListenerIndex } from './listener-index.ts'
import type { Listening } from './listening.ts'
import { Subscription } from './subscription.ts'
import { keyOfView, type View, type ViewSpec } from './view.ts'

/** How much the subscriptions of a process may take in all. */
export class SubscriptionBudget {
  readonly #maxSubscriptions: number
  readonly #maxWeight: number
  #subscriptions = 0
  #weight = 0

  constructor({ subscriptions = 100_000, weight = 2_000_000 } = {}) {
    this.#maxSubscriptions = subscriptions
    this.#maxWeight = weight
  }

  open(): void {
    if (this.#subscriptions >= this.#maxSubscriptions)
      throw new RtdbFailure(429, 'this server has too many subscriptions')
    this.#subscriptions += 1
  }

  close(): void {
    this.#subscriptions -= 1
  }

  /** Values that aggregates keep. What comes later is counted although there is no room. */
  takeWeight(values: number): boolean {
    this.#weight += values
    return values <= 0 || this.#weight <= this.#maxWeight
  }
}

/** Everything that is subscribed to in one database on this process. Bound: the budget of the process. */
export class Subscriptions {
  readonly #index = new ListenerIndex<View>()
  readonly #views = new Map<string, View>()
  readonly #budget: SubscriptionBudget
  readonly #makeView: (spec: ViewSpec) => View

  constructor(budget: SubscriptionBudget, makeView: (spec: ViewSpec) => View) {
    this.#budget = budget
    this.#makeView = makeView
  }

  get isEmpty(): boolean {
    return this.#views.size === 0
  }

  /** From now on it hears of changes; `start` it when its client was shown the first state. */
  open(listening: Listening, spec: ViewSpec): Subscription {
    const view = this.#views.get(keyOfView(spec)) ?? this.#makeView(spec)
    this.#budget.open()
    if (view.subscriptions.size === 0) {
      this.#views.set(keyOfView(spec), view)
      this.#index.add(view)
    }
    const subscription = new Subscription(listening, view)
    view.subscriptions.add(subscription)
    return subscription
  }

  close(subscription: Subscription): void {
    const { view } = subscription
    if (!view.subscriptions.delete(subscription)) return
    this.#budget.close()
    if (view.subscriptions.size > 0) return
    this.#index.remove(view)
    this.#views.delete(keyOfView(view.spec))
    if (view instanceof GroupView) view.close()
  }

  /** Tells what a transaction has done, in the order of its operations. Answers at how many views it looked. */
  tell({ seq, changes }: LoggedChanges): number {
    const finishing = new Set<View>()
    let looked = 0
    for (const change of changes) {
      const texts = new ChangeTexts(change)
      for (const view of this.#index.concerned(change.path, [change.before, change.after])) {
        looked += 1
        view.note(change, seq, texts)
        if (view.finish) finishing.add(view)
      }
    }
    for (const view of finishing) view.finish?.(seq)
    return looked
  }

  /** Tells those who look at the document, or at the collection, an event that changes none. */
  tellOf(
    path: string,
    document: ReadDocument | undefined,
    { event, except }: { readonly event: string; readonly except: string | undefined },
  ): void {
    for (const view of this.#index.concerned(path, [document ?? {}])) {
      if (!(view instanceof DocumentView) || (view.filter && !(document && view.shows(document)))) continue
      for (const subscription of view.subscriptions)
        if (subscription.listening.connId !== except) subscription.push(event)
    }
  }
}
