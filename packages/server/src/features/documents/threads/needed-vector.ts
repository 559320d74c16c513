import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'

/** What a state vector says of the clients that a document knows, as a state vector: the others are no part of an answer. It is read
 * without making a map of it: a client may name some hundred thousand, of a document that knows a few. Throws when it is none. */
export function neededVector(doc: Y.Doc, stateVector: Uint8Array): Uint8Array {
  const { clients, pendingStructs } = doc.store
  const pending = pendingStructs ? Y.parseUpdateMetaV2(pendingStructs.update).from : undefined
  const decoder = decoding.createDecoder(stateVector)
  const entries = encoding.createEncoder()
  let count = 0
  for (let left = decoding.readVarUint(decoder); left > 0; left -= 1) {
    const client = decoding.readVarUint(decoder)
    const clock = decoding.readVarUint(decoder)
    if (!clients.has(client) && !pending?.has(client)) continue
    encoding.writeVarUint(entries, client)
    encoding.writeVarUint(entries, clock)
    count += 1
  }
  const vector = encoding.createEncoder()
  encoding.writeVarUint(vector, count)
  encoding.writeUint8Array(vector, encoding.toUint8Array(entries))
  return encoding.toUint8Array(vector)
}
