/** A value that changes, and who wants to know. */
export interface Store<Value> {
  get(): Value
  set(value: Value): void
  /** Calls `listener` after each change; returns what ends that. */
  subscribe(listener: () => void): () => void
}

/** Makes a store; a value that is the same (`Object.is`) is no change. */
export function createStore<Value>(initial: Value): Store<Value> {
  let current = initial
  // Bound: the components that are shown.
  const listeners = new Set<() => void>()
  return {
    get: () => current,
    set(value) {
      if (Object.is(value, current)) return
      current = value
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
