import * as Y from 'yjs'

// The library goes down into values by recursion, and how deep it comes before its stack ends differs from thread to thread.
const maxDepth = 100

/** Can all of it be read again by any thread, and are its clocks such that the library's searches among them end? */
export function isReadable(update: Uint8Array): boolean {
  try {
    const { structs, ds } = Y.decodeUpdate(update)
    return (
      structs.every((struct) => isSound(struct) && isFlat(struct)) &&
      [...ds.clients.values()].every((ranges) => ranges.every(isRange))
    )
  } catch {
    return false
  }
}

function isSound({ id, length }: { readonly id: Y.ID; readonly length: number }): boolean {
  return length > 0 && Number.isSafeInteger(id.clock + length)
}

function isRange({ clock, len }: { readonly clock: number; readonly len: number }): boolean {
  return Number.isSafeInteger(clock + len)
}

/** Nothing that an item holds is nested deeper than documents need. */
function isFlat(struct: object): boolean {
  const content = (struct as { readonly content?: object }).content
  if (!content) return true
  let level: unknown[] = ['arr', 'embed', 'value'].map((name) => (content as Record<string, unknown>)[name])
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) return false
    const holders = level.filter((value) => typeof value === 'object' && value !== null)
    level = holders.flatMap((value) => (value instanceof Uint8Array ? [] : Object.values(value as object)))
  }
  return true
}
