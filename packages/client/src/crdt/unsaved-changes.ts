import * as Y from 'yjs'

interface Range {
  readonly clock: number
  readonly len: number
}

/** What was sent and has not come back yet: the server sends a change back to its sender once it is on the disk. */
export class UnsavedChanges {
  // Bound: what one person changes within one round trip.
  readonly #insertedTo = new Map<number, number>()
  readonly #deleted = new Map<number, Range[]>()

  get isEmpty(): boolean {
    return this.#insertedTo.size === 0 && this.#deleted.size === 0
  }

  sent(update: Uint8Array): void {
    for (const [client, to] of Y.parseUpdateMeta(update).to) this.#insertedTo.set(client, to)
    for (const [client, ranges] of Y.decodeUpdate(update).ds.clients)
      this.#deleted.set(client, [...(this.#deleted.get(client) ?? []), ...ranges])
  }

  cameBack(update: Uint8Array): void {
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

  /** All of it is known to be safe, or is to be sent again. */
  clear(): void {
    this.#insertedTo.clear()
    this.#deleted.clear()
  }
}

/** The parts of a range that none of the others covers. */
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
