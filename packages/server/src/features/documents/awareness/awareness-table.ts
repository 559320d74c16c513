import { crdtLimits, type IdTag } from '@kith/protocol'
import type { AwarenessEntry } from '../socket/frames.ts'
import { gone } from './awareness-state.ts'

/** The owner of awareness clients: a connection, or another process. */
export interface AwarenessOwner {
  /** Undefined for guests. */
  readonly idTag: IdTag | undefined
}

interface Known<Owner> {
  readonly client: number
  clock: number
  state: string
  owner: Owner | undefined
  /** The owner's identity; where the owner is another process, that of the connection there. */
  idTag: IdTag | undefined
}

// Removed clients, with the clocks that they have to exceed when they return.
const maxRemembered = 1000

/** The awareness states of a document. The tables of the library leave out a client whose first clock is 0; this one takes
 * every clock. A client belongs to the owner that used it first. */
export class AwarenessTable<Owner extends AwarenessOwner> {
  // Bound: eight for each owner, and the removed ones.
  readonly #known = new Map<number, Known<Owner>>()

  get entries(): AwarenessEntry[] {
    return [...this.#known.values()].filter(({ state }) => state !== gone).map(entryOf)
  }

  entriesOf(isOwner: (owner: Owner) => boolean): (AwarenessEntry & AwarenessOwner)[] {
    const owned = [...this.#known.values()].filter(
      ({ owner, state }) => owner && state !== gone && isOwner(owner),
    )
    return owned.map((known) => ({ ...entryOf(known), idTag: known.idTag }))
  }

  /** Applies a state of a client. `new`: others have to be told. `taken`: the client has another owner, and the same state.
   * `stale`: the client was removed at a clock that is not lower; one that is told so sends its state again with a higher
   * clock. `refused`: it belongs to another owner, or the owner has too many. */
  set(owner: Owner, entry: AwarenessEntry, idTag = owner.idTag): 'new' | 'taken' | 'stale' | 'refused' {
    const known = this.#known.get(entry.client)
    if (!known) return this.#add(owner, entry, idTag)
    const isTaken = known.owner !== owner
    if (isTaken && !this.#takeOver(known, owner, idTag)) return 'refused'
    const isNewer =
      entry.clock > known.clock ||
      (entry.clock === known.clock && entry.state === gone && known.state !== gone)
    if (!isNewer && known.state === gone && entry.state !== gone) return 'stale'
    if (!isNewer) return isTaken ? 'taken' : 'refused'
    known.clock = entry.clock
    known.state = entry.state
    return 'new'
  }

  find(client: number): AwarenessEntry | undefined {
    const known = this.#known.get(client)
    return known && entryOf(known)
  }

  /** Removes an owner with its clients; returns their removals, for the others. */
  release(isOwner: (owner: Owner) => boolean): AwarenessEntry[] {
    const ended: AwarenessEntry[] = []
    for (const known of this.#known.values()) {
      if (!known.owner || !isOwner(known.owner)) continue
      known.owner = undefined
      if (known.state === gone) continue
      known.clock += 1
      known.state = gone
      ended.push(entryOf(known))
    }
    this.#forget()
    return ended
  }

  #add(owner: Owner, entry: AwarenessEntry, idTag: IdTag | undefined): 'new' | 'refused' {
    if (this.#isFull(owner)) return 'refused'
    this.#known.set(entry.client, { ...entry, owner, idTag })
    return entry.state === gone ? 'refused' : 'new'
  }

  /** A client without an owner may be taken by any owner, one with an owner only by the same identity. */
  #takeOver(known: Known<Owner>, owner: Owner, idTag: IdTag | undefined): boolean {
    const isSame = known.idTag !== undefined && known.idTag === idTag
    if ((known.owner && !isSame) || this.#isFull(owner)) return false
    known.owner = owner
    known.idTag = idTag
    return true
  }

  #isFull(owner: Owner): boolean {
    if (owner instanceof RemoteOwner) return false
    let owned = 0
    for (const known of this.#known.values()) if (known.owner === owner) owned += 1
    return owned >= crdtLimits.awarenessClientsPerConnection
  }

  #forget(): void {
    const free = [...this.#known.values()].filter(({ owner }) => !owner)
    for (const { client } of free.slice(0, Math.max(0, free.length - maxRemembered)))
      this.#known.delete(client)
  }
}

/** Another process, with the clients of its connections. */
export class RemoteOwner implements AwarenessOwner {
  readonly idTag = undefined
  readonly node: string
  /** When its last message came, Unix milliseconds. */
  heardAtMs: number

  constructor(node: string, heardAtMs: number) {
    this.node = node
    this.heardAtMs = heardAtMs
  }
}

function entryOf({ client, clock, state }: AwarenessEntry): AwarenessEntry {
  return { client, clock, state }
}
