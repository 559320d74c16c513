import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'

const sync = 0
export const stepTwo = 1
export const update = 2

/** Asks for everything: the state vector of an empty document. */
export const stepOneOfNothing = Uint8Array.of(sync, 0, 1, 0)

export function updateFrame(bytes: Uint8Array): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, sync)
  encoding.writeVarUint(encoder, update)
  encoding.writeVarUint8Array(encoder, bytes)
  return encoding.toUint8Array(encoder)
}

/** The update in a frame of one kind. */
export function updateIn(frame: Uint8Array, kind: typeof stepTwo | typeof update): Uint8Array | undefined {
  const decoder = decoding.createDecoder(frame)
  if (decoding.readVarUint(decoder) !== sync || decoding.readVarUint(decoder) !== kind) return undefined
  return decoding.readVarUint8Array(decoder)
}
