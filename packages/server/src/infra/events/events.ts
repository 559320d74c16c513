import type { Writer } from '#infra/db/index.ts'

/** Says what was stored, in the transaction that stores it: what must follow is written there too. */
export type Emit<Event> = (tx: Writer, event: Event) => Promise<void>

/** Runs in the transaction of the event; what is only nice to have waits in `tx.afterCommit`. */
export type Reaction<Event> = (tx: Writer, event: Event) => Promise<void> | void

/** Who reacts to which kind of event, in this order: a kind to which nobody reacts says so with an empty list. */
export type Reactions<Event extends { readonly kind: string }> = {
  readonly [Kind in Event['kind']]: readonly Reaction<Event & { readonly kind: Kind }>[]
}

/** Joins those who emit events to the one table of those who react; what emits can be made before what reacts. */
export class Events<Event extends { readonly kind: string }> {
  #reactions: Reactions<Event> | undefined

  readonly emit: Emit<Event> = async (tx, event) => {
    if (!this.#reactions) throw new TypeError(`nobody was subscribed before ${event.kind} was emitted`)
    const reactions: readonly Reaction<Event>[] = this.#reactions[event.kind as Event['kind']]
    for (const react of reactions) await react(tx, event)
  }

  /** Once, before the first event. */
  subscribe(reactions: Reactions<Event>): void {
    if (this.#reactions) throw new TypeError('the table of reactions is set once')
    this.#reactions = reactions
  }
}
