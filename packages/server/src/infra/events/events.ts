import type { Writer } from '#infra/db/index.ts'

/** Reports a change in the transaction that stores it, so that all that must follow is written there too. */
export type Emit<Event> = (tx: Writer, event: Event) => Promise<void>

/** Runs in the transaction of the event; effects that may be lost wait in `tx.afterCommit`. */
type Reaction<Event> = (tx: Writer, event: Event) => Promise<void> | void

/** The reactions to each kind of event, in order; an empty list where there are none. */
export type Reactions<Event extends { readonly kind: string }> = {
  readonly [Kind in Event['kind']]: readonly Reaction<Event & { readonly kind: Kind }>[]
}

/** Passes events on to the one table of reactions; features that emit can be made before those that react. */
export class Events<Event extends { readonly kind: string }> {
  #reactions: Reactions<Event> | undefined

  readonly emit: Emit<Event> = async (tx, event) => {
    if (!this.#reactions) throw new TypeError(`no reactions were subscribed before ${event.kind} was emitted`)
    const reactions: readonly Reaction<Event>[] = this.#reactions[event.kind as Event['kind']]
    for (const react of reactions) await react(tx, event)
  }

  /** Once, before the first event. */
  subscribe(reactions: Reactions<Event>): void {
    if (this.#reactions) throw new TypeError('the table of reactions is set once')
    this.#reactions = reactions
  }
}
