/** Messages between the processes of a server. None is kept: what must not be lost is in the database, and a message is
 * only a hint to look there. */
export interface NodeBus extends AsyncDisposable {
  /** Reaches the listeners of this process at once, and those of the others when they can be reached. */
  publish(channel: string, message: string): void
  /** Answers a function that ends the subscription. */
  subscribe(channel: string, listener: BusListener): () => void
  /** Tells all processes that a key is present here. The mark expires at `untilMs`, in case this process dies. */
  mark(key: string, untilMs: number): void
  /** The key is no longer present here; other processes may have marked it too. */
  unmark(key: string): void
  /** Whether any process has marked the key. */
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

  /** The same for what another process has said. One that a listener cannot make anything of, as of another version of
   * the program, ends nothing: it counts as missed, and is answered. */
  tellFromElsewhere(channel: string, message: string): unknown {
    let trouble: unknown
    for (const listener of this.#byChannel.get(channel) ?? []) {
      try {
        listener.onMessage(message)
      } catch (error) {
        trouble = error
        listener.onGap?.()
      }
    }
    return trouble
  }

  tellGap(): void {
    for (const listeners of this.#byChannel.values()) for (const listener of listeners) listener.onGap?.()
  }
}
