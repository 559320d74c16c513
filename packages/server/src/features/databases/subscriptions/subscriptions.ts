import type { LoggedChanges } from '../engine/database.ts'
import type { ReadDocument } from '../engine/values.ts'
import { ChangeTexts } from './change-texts.ts'
import { DocumentView } from './document-view.ts'
import { GroupView } from './group-view.ts'
import { ListenerIndex } from './listener-index.ts'
import type { Listening } from './listening.ts'
import { Subscription } from './subscription.ts'
import type { SubscriptionBudget } from './subscription-budget.ts'
import { keyOfView, type View, type ViewSpec } from './view.ts'

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
    const key = keyOfView(spec)
    const view = this.#views.get(key) ?? this.#makeView(spec)
    this.#budget.open(key.length)
    if (view.subscriptions.size === 0) {
      this.#views.set(key, view)
      this.#index.add(view)
    }
    const subscription = new Subscription(listening, view)
    view.subscriptions.add(subscription)
    return subscription
  }

  close(subscription: Subscription): void {
    const { view } = subscription
    if (!view.subscriptions.delete(subscription)) return
    const key = keyOfView(view.spec)
    this.#budget.close(key.length)
    if (view.subscriptions.size > 0) return
    this.#index.remove(view)
    this.#views.delete(key)
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
