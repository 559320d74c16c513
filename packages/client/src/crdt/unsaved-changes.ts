import * as Y from 'yjs'

/** `len` consecutive operations of one Yjs client, from `clock` on. */
interface Range {
  readonly clock: number
  readonly len: number
}

/** Tracks which changes the server has not confirmed. The server sends every update back to its sender once it is stored; a
 * change is confirmed when an update from the server contains it. */
export class UnsavedChanges {
  // Insertions sent: the clock after the last one, by Yjs client. Both maps are bounded by the changes of one round trip.
  readonly #insertedTo = new Map<number, number>()
  // Deletions sent: ranges of deleted operations, by Yjs client.
  readonly #deleted = new Map<number, Range[]>()

  get isEmpty(): boolean {
    return this.#insertedTo.size === 0 && this.#deleted.size === 0
  }

  /** A Yjs update was sent. */
  sent(update: Uint8Array): void {
    for (const [client, to] of Y.parseUpdateMeta(update).to) this.#insertedTo.set(client, to)
    for (const [client, ranges] of Y.decodeUpdate(update).ds.clients)
      this.#deleted.set(client, [...(this.#deleted.get(client) ?? []), ...ranges])
  }

  /** A Yjs update arrived from the server: what it contains is stored. */
  confirmed(update: Uint8Array): void {
    if (this.isEmpty) return
    for (const [client, to] of Y.parseUpdateMeta(update).to)
      if (to >= (this.#insertedTo.get(client) ?? Number.POSITIVE_INFINITY)) this.#insertedTo.delete(client)
    if (this.#deleted.size === 0) return
    for (const [client, gone] of Y.decodeUpdate(update).ds.clients) {
      const left = (this.#deleted.get(client) ?? []).flatMap((range) => without(range, gone))
      if (left.length > 0) this.#deleted.set(client, left)
      else this.#deleted.delete(client)
    }
  }

  /** Forgets everything, when the connection closes: a new connection starts with a full synchronisation. */
  clear(): void {
    this.#insertedTo.clear()
    this.#deleted.clear()
  }
}

/** The parts of a range that no other range covers. */
function without(range: Range, others: readonly Range[]): Range[] {
  let left = [range]
  for (const other of others)
    left = left.flatMap(({ clock, len }) => {
      const end = clock + len
      const otherEnd = other.clock + other.len
      if (otherEnd <= clock || other.clock >= end) return [{ clock, len }]
      return [
        { clock, len: other.clock - clock },
        { clock: otherEnd, len: end - otherEnd },
      ].filter((part) => part.len > 0)
    })
  return left
}
