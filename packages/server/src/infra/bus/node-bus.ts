/** What a process of the server tells the others, and what they tell it. Nothing here is kept: whoever must not miss a
 * thing finds it in the database, and takes a message for a hint to look there. */
export interface NodeBus extends AsyncDisposable {
  /** Reaches the listeners of this process at once, and those of the others when they can be reached. */
  publish(channel: string, message: string): void
  /** The function that it answers ends the subscription. */
  subscribe(channel: string, listener: BusListener): () => void
  /** Tells all processes that something holds here, until a time that is soon enough for when this process dies. */
  mark(key: string, untilMs: number): void
  /** It no longer holds here; other processes may say that it does there. */
  unmark(key: string): void
  /** Does any process say so? */
  isMarked(key: string): Promise<boolean>
}

interface BusListener {
  onMessage(message: string): void
  /** Messages of other processes may have been missed: they could not be reached for a while. */
  onGap?(): void
}

/** The listeners of one process. Bound: its subscribers', who hold one each for what they have open. */
export class Listeners {
  readonly #byChannel = new Map<string, Set<BusListener>>()

  /** True for the first of a channel. */
  add(channel: string, listener: BusListener): boolean {
    const known = this.#byChannel.get(channel)
    if (known) known.add(listener)
    else this.#byChannel.set(channel, new Set([listener]))
    return known === undefined
  }

  /** True for the last of a channel. */
  remove(channel: string, listener: BusListener): boolean {
    const known = this.#byChannel.get(channel)
    if (!known?.delete(listener) || known.size > 0) return false
    this.#byChannel.delete(channel)
    return true
  }

  get channels(): string[] {
    return [...this.#byChannel.keys()]
  }

  tell(channel: string, message: string): void {
    for (const listener of this.#byChannel.get(channel) ?? []) listener.onMessage(message)
  }

  tellGap(): void {
    for (const listeners of this.#byChannel.values()) for (const listener of listeners) listener.onGap?.()
  }
}
