import { foldText } from '@kith/protocol'

// As long as people take from one letter to the next.
const pauseMs = 1_000

/** Finds an item by the first letters of its name, as they are typed one after the other. */
export interface TypeAhead {
  /** Where a key leads from an item; undefined where it is no letter, and -1 where no name begins so. */
  find(
    key: string,
    at: { readonly names: readonly string[]; readonly from: number; readonly nowMs: number },
  ): number | undefined
}

export function createTypeAhead(): TypeAhead {
  // Bound: the length of a name that somebody types.
  let typed = ''
  let lastMs = Number.NEGATIVE_INFINITY
  return {
    find(key, { names, from, nowMs }) {
      const isGoingOn = typed !== '' && nowMs - lastMs < pauseMs
      if (!/^[\p{L}\p{N}]$/u.test(key) && !(isGoingOn && /^[\p{M} ._-]$/u.test(key))) return undefined
      const letter = foldText(key)
      typed = isGoingOn ? typed + letter : letter
      lastMs = nowMs
      // The same letter again goes on to the next name with it.
      const isRepeated = [...typed].every((one) => one === letter)
      const wanted = isRepeated ? letter : typed
      const first = isRepeated ? from + 1 : from
      const order = names.map((_, index) => (first + index) % names.length)
      const found = order.find((index) => foldText(names[index] ?? '').startsWith(wanted))
      // What leads nowhere may be a shortcut, and begins no name.
      if (found === undefined) typed = ''
      return found ?? -1
    },
  }
}
