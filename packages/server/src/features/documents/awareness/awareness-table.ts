import { crdtLimits, type IdTag } from '@kith/protocol'
import type { Clock } from '#lib/clock.ts'
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
  readonly idTag: IdTag | undefined
  /** When its owner was gone, Unix milliseconds. */
  goneAtMs: number
}

/** What a state of a client means. `new`: others have to be told. `stale`: the client was removed at a clock that is not lower; one that
 * is told so sends its state again with a higher clock. `ignored`: it is nothing new, or the client is another owner's. */
export type Verdict = 'new' | 'stale' | 'ignored'

// So long the client of an identity that is gone waits for it: its line may be broken.
const reservedMs = 60_000
// Removed clients, with the clocks that they have to exceed when they return.
const maxRemembered = 1000

/** The awareness states of a document. The tables of the library leave out a client whose first clock is 0; this one takes
 * every clock. A client belongs to the owner that used it first, until that is gone, or the same identity goes on with it elsewhere. */
export class AwarenessTable<Owner extends AwarenessOwner> {
  // Bound: eight for each owner, and the removed ones.
  readonly #known = new Map<number, Known<Owner>>()
  // How many clients an owner has, if any.
  readonly #owned = new Map<Owner, number>()
  readonly #clock: Pick<Clock, 'now'>

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  get entries(): AwarenessEntry[] {
    return [...this.#known.values()].filter(({ state }) => state !== gone).map(entryOf)
  }

  entriesOf(isOwner: (owner: Owner) => boolean): (AwarenessEntry & AwarenessOwner)[] {
    const owned = [...this.#known.values()].filter(
      ({ owner, state }) => owner && state !== gone && isOwner(owner),
    )
    return owned.map((known) => ({ ...entryOf(known), idTag: known.idTag }))
  }

  /** Applies a state of a client. Stock clients send back all that they receive: only a newer state changes the owner, and a removal
   * never does. */
  set(owner: Owner, entry: AwarenessEntry, idTag = owner.idTag): Verdict {
    const known = this.#known.get(entry.client)
    const news = this.judge(owner, entry, idTag)
    if (news === 'new') {
      this.#countOwned(known?.owner, -1)
      this.#countOwned(owner, 1)
      this.#known.set(entry.client, { ...entry, owner, idTag, goneAtMs: 0 })
    } else if (!known?.owner && entry.state === gone && owner instanceof RemoteOwner)
      this.#remember(entry, known)
    return news
  }

  /** What `set` would answer, and how it decides. */
  judge(owner: Owner, entry: AwarenessEntry, idTag = owner.idTag): Verdict {
    const known = this.#known.get(entry.client)
    if (!known?.owner) {
      if (entry.state === gone) return 'ignored'
      if (known && entry.clock <= known.clock) return 'stale'
      return this.#isReserved(known, idTag) || this.#isFull(owner) ? 'ignored' : 'new'
    }
    const isNewer = entry.clock > known.clock
    if (known.owner === owner) {
      const isRemoved = entry.clock === known.clock && entry.state === gone && known.state !== gone
      if (!isNewer && !isRemoved) return known.state === gone && entry.state !== gone ? 'stale' : 'ignored'
    } else {
      const isSamePerson = known.idTag !== undefined && known.idTag === idTag
      if (!isNewer || !isSamePerson || entry.state === gone || this.#isFull(owner)) return 'ignored'
    }
    return 'new'
  }

  find(client: number): AwarenessEntry | undefined {
    const known = this.#known.get(client)
    return known && entryOf(known)
  }

  ownerOf(client: number): Owner | undefined {
    return this.#known.get(client)?.owner
  }

  /** The owner of a client whose state is not newer than this clock. */
  ownerUpTo({ client, clock }: Pick<AwarenessEntry, 'client' | 'clock'>): Owner | undefined {
    const known = this.#known.get(client)
    return known && known.clock <= clock ? known.owner : undefined
  }

  /** Removes an owner with its clients; returns their removals, for the others. */
  release(isOwner: (owner: Owner) => boolean): AwarenessEntry[] {
    const ended: AwarenessEntry[] = []
    for (const known of this.#known.values()) {
      if (!known.owner || !isOwner(known.owner)) continue
      this.#owned.delete(known.owner)
      known.owner = undefined
      known.goneAtMs = this.#clock.now()
      if (known.state === gone) continue
      known.clock += 1
      known.state = gone
      ended.push(entryOf(known))
    }
    this.#forget()
    return ended
  }

  /** Another process has removed a client that was not known here. */
  #remember(entry: AwarenessEntry, known: Known<Owner> | undefined): void {
    if (known && known.clock >= entry.clock) return
    this.#known.set(entry.client, { ...entry, owner: undefined, idTag: undefined, goneAtMs: 0 })
    this.#forget()
  }

  #isReserved(known: Known<Owner> | undefined, idTag: IdTag | undefined): boolean {
    if (known?.idTag === undefined || known.idTag === idTag) return false
    return this.#clock.now() - known.goneAtMs < reservedMs
  }

  #isFull(owner: Owner): boolean {
    if (owner instanceof RemoteOwner) return false
    return (this.#owned.get(owner) ?? 0) >= crdtLimits.awarenessClientsPerConnection
  }

  #countOwned(owner: Owner | undefined, by: number): void {
    if (!owner) return
    const count = (this.#owned.get(owner) ?? 0) + by
    if (count > 0) this.#owned.set(owner, count)
    else this.#owned.delete(owner)
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
