interface Entry {
  readonly id: string
}

/** What was done to an entry here. */
export interface Change<Kind extends Entry> {
  /** The entry as it is now; undefined when it was removed. */
  readonly entry: Kind | undefined
  isStored: boolean
}

/** What the server has told, with what was changed here on top, so that changes are seen at once and offline. */
export class Overlay<Kind extends Entry> {
  #told: readonly Kind[] = []
  // By id. Bound: the SDK takes 10 000 changes that wait.
  readonly #changes = new Map<string, Change<Kind>>()

  get entries(): Kind[] {
    const changed = [...this.#changes.values()].flatMap(({ entry }) => entry ?? [])
    return [...this.#told.filter(({ id }) => !this.#changes.has(id)), ...changed]
  }

  /** Takes what a subscription tells. It tells of a change after the answer, so that this has what was stored before. */
  tell(told: readonly Kind[]): void {
    this.#told = told
    for (const [id, { isStored }] of this.#changes) if (isStored) this.#changes.delete(id)
  }

  put(id: string, change: Change<Kind>): void {
    this.#changes.set(id, change)
  }

  /** Takes a change back, unless another has come after it. */
  drop(id: string, change: Change<Kind>): void {
    if (this.#changes.get(id) === change) this.#changes.delete(id)
  }
}
