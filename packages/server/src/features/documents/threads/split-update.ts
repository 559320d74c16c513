import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'

type Struct = ReturnType<typeof Y.decodeUpdate>['structs'][number]

/** Structs of a client that follow each other, encoded. */
interface Run {
  readonly client: number
  readonly clock: number
  readonly count: number
  readonly bytes: Uint8Array
}

const noDeletions = Uint8Array.of(0)

/** An update as several, which make the same together; each has about `pieceBytes` at most, unless one insertion alone is larger.
 * Deletions are in the last. Stock clients close a connection on which no whole message came for 30 s. */
export function splitUpdate(update: Uint8Array, pieceBytes: number): Uint8Array[] {
  if (update.length <= pieceBytes) return [update]
  const { structs, ds } = Y.decodeUpdate(update)
  const pieces: Uint8Array[] = []
  let runs: Run[] = []
  let bytes = 0
  for (let from = 0; from < structs.length; ) {
    const run = encodeRun(structs, from, pieceBytes - bytes)
    from += run.count
    bytes += run.bytes.length
    runs.push(run)
    if (bytes < pieceBytes) continue
    pieces.push(encodePiece(runs, noDeletions))
    runs = []
    bytes = 0
  }
  return [...pieces, encodePiece(runs, encodeDeletions(ds))]
}

/** The struct at `from` and all after it that are of the same client, until they have so many bytes: of two runs of one client in a
 * piece the library would read the second alone. */
function encodeRun(structs: readonly Struct[], from: number, bytes: number): Run {
  const { client, clock } = (structs[from] as Struct).id
  const encoder = new Y.UpdateEncoderV1()
  let count = 0
  for (let struct = structs[from]; struct?.id.client === client; struct = structs[from + count]) {
    if (encoding.length(encoder.restEncoder) >= bytes) break
    struct.write(encoder, 0)
    count += 1
  }
  return { client, clock, count, bytes: encoding.toUint8Array(encoder.restEncoder) }
}

function encodePiece(runs: readonly Run[], deletions: Uint8Array): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, runs.length)
  for (const { client, clock, count, bytes } of runs) {
    encoding.writeVarUint(encoder, count)
    encoding.writeVarUint(encoder, client)
    encoding.writeVarUint(encoder, clock)
    encoding.writeUint8Array(encoder, bytes)
  }
  encoding.writeUint8Array(encoder, deletions)
  return encoding.toUint8Array(encoder)
}

function encodeDeletions({ clients }: ReturnType<typeof Y.decodeUpdate>['ds']): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, clients.size)
  for (const [client, deletions] of clients) {
    encoding.writeVarUint(encoder, client)
    encoding.writeVarUint(encoder, deletions.length)
    for (const { clock, len } of deletions) {
      encoding.writeVarUint(encoder, clock)
      encoding.writeVarUint(encoder, len)
    }
  }
  return encoding.toUint8Array(encoder)
}
