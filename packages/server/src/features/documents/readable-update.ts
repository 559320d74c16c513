import * as Y from 'yjs'

/** Can all of it be read, and are its clocks such that the library's searches among them end? */
export function isReadable(update: Uint8Array): boolean {
  try {
    const { structs, ds } = Y.decodeUpdate(update)
    return structs.every(isSound) && [...ds.clients.values()].every((ranges) => ranges.every(isRange))
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
