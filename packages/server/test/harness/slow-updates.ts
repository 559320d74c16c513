import * as encoding from 'lib0/encoding'

const anyContent = 8
const hasLeftOrigin = 0x80
const nullValue = 126
const crowd = 5000

/** An update with many items of client 1, each at the beginning of one list. Reading it is quick. */
export const crowdedUpdate = itemsAtOnePlace(1, crowd)

/** A small update of another client that takes long where `crowdedUpdate` is (about half a millisecond of a processor for each item), and again
 * when the document is opened: each of its items is compared with each of those. */
export function slowUpdate(client: number, items = 50): Uint8Array {
  return itemsAtOnePlace(client, items, { client: 1, clock: crowd - 1 })
}

/** Items at the beginning of one list; the first of them is behind `after`, if given, and so has to wait for it. */
function itemsAtOnePlace(
  client: number,
  count: number,
  after?: { readonly client: number; readonly clock: number },
): Uint8Array {
  const encoder = encoding.createEncoder()
  for (const number of [1, count, client, 0]) encoding.writeVarUint(encoder, number)
  for (let at = 0; at < count; at += 1) {
    if (after && at === 0) {
      encoding.writeUint8(encoder, anyContent | hasLeftOrigin)
      encoding.writeVarUint(encoder, after.client)
      encoding.writeVarUint(encoder, after.clock)
    } else {
      encoding.writeUint8(encoder, anyContent)
      // Its parent is a root.
      encoding.writeVarUint(encoder, 1)
      encoding.writeVarString(encoder, 'list')
    }
    encoding.writeVarUint(encoder, 1)
    encoding.writeUint8(encoder, nullValue)
  }
  encoding.writeVarUint(encoder, 0)
  return encoding.toUint8Array(encoder)
}
