import { EventLoopTurns } from '#lib/event-loop-turns.ts'
import type { DocumentChange, LoggedChanges } from '../engine/database.ts'
import { countConditions } from '../engine/filter.ts'
import { ChangeTexts } from './change-texts.ts'
import type { DocumentView } from './document-view.ts'
import { GroupView } from './group-view.ts'
import { ListenerIndex } from './listener-index.ts'
import type { Listening } from './listening.ts'
import { Subscription } from './subscription.ts'
import type { Allowance } from './subscription-budget.ts'
import { keyOfView, type ViewSpec } from './view.ts'

/** An event of a lock. */
interface LockEvent {
  /** Grows with each of them. */
  readonly number: number
  readonly event: string
}

type AnyView = DocumentView | GroupView
type MakeView = (spec: ViewSpec, allowance: Allowance) => AnyView

/** Everything that is subscribed to in one database on this process. Bound: the budget of the process. */
export class Subscriptions {
  readonly #index = new ListenerIndex<AnyView>()
  readonly #views = new Map<string, AnyView>()
  readonly #makeView: MakeView

  constructor(makeView: MakeView) {
    this.#makeView = makeView
  }

  get isEmpty(): boolean {
    return this.#views.size === 0
  }

  /** From now on it hears of changes; `start` it when its client was shown the first state. */
  open(listening: Listening, spec: ViewSpec): Subscription {
    const key = keyOfView(spec)
    // The memory of a shared aggregate counts for its first subscriber.
    const view = this.#views.get(key) ?? this.#makeView(spec, listening.allowance)
    const cost = { characters: key.length, conditions: countConditions(spec.filter) }
    listening.allowance.open(cost)
    if (view.subscriptions.size === 0) {
      this.#views.set(key, view)
      this.#index.add(view)
    }
    const subscription = new Subscription(listening, view, cost)
    view.subscriptions.add(subscription)
    return subscription
  }

  close(subscription: Subscription): void {
    const { view } = subscription
    if (!view.subscriptions.delete(subscription)) return
    subscription.listening.allowance.close(subscription.cost)
    if (view.subscriptions.size > 0) return
    const key = keyOfView(view.spec)
    const kept = this.#views.get(key)
    this.#views.delete(key)
    if (kept) this.#index.remove(kept)
    if (kept instanceof GroupView) kept.close()
  }

  /** Tells what a transaction has done, in the order of its operations, and lets others run meanwhile. Answers at how many views
   * it looked. The next transaction is told when this one is. */
  async tell({ seq, changes }: LoggedChanges): Promise<number> {
    const turns = new EventLoopTurns()
    const ofGroups = new Map<GroupView, DocumentChange[]>()
    let looked = 0
    for (const change of changes) {
      const texts = new ChangeTexts(change)
      for (const view of this.#index.concerned(
        change.path,
        [change.before, change.after],
        texts.identities,
      )) {
        looked += 1
        if (view instanceof GroupView) listOf(ofGroups, view).push(change)
        else await tellAll(view, turns, { seq, event: view.eventOf(texts) })
        if (turns.isOver) await turns.giveWay()
      }
      await turns.giveWay()
    }
    for (const [view, ofView] of ofGroups)
      await tellAll(view, turns, { seq, event: view.eventOf({ seq, changes: ofView }) })
    return looked
  }

  /** Tells a lock event to all whose path and scope cover the path. */
  async tellLock(path: string, { number, event }: LockEvent): Promise<void> {
    const turns = new EventLoopTurns()
    for (const view of this.#index.covering(path))
      for (const subscription of view.subscriptions) {
        subscription.tellLock(number, event)
        if (turns.isOver) await turns.giveWay()
      }
  }
}

interface Told {
  /** Undefined when there is nothing to tell. */
  readonly event: string | undefined
  /** Of the change. */
  readonly seq: number
}

async function tellAll(view: AnyView, turns: EventLoopTurns, { event, seq }: Told): Promise<void> {
  if (event === undefined) return
  for (const subscription of view.subscriptions) {
    subscription.tell(seq, event)
    if (turns.isOver) await turns.giveWay()
  }
}

function listOf<Key, Item>(lists: Map<Key, Item[]>, key: Key): Item[] {
  const list = lists.get(key) ?? []
  lists.set(key, list)
  return list
}
