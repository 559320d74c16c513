import type { FileId } from '@kith/protocol'
import type { Reader } from '#infra/db/index.ts'
import { EventLoopTurns } from '#lib/event-loop-turns.ts'
import { type DocumentPlace, listPlaced } from '../engine/placed-documents-store.ts'
import { isJsonObject, type JsonObject } from '../engine/values.ts'

/** Pieces are not larger, but for a document of its own. */
export const pieceBytes = 1024 ** 2
const documentsAtOnce = 300

export const beforeAll: DocumentPlace = { collection: '', id: '' }

/** The documents of a database as JSON lines, in the order of their keys, in pieces of whole lines. What the reader sees
 * must be of one moment. */
export async function* documentLines(reader: Reader, fileId: FileId): AsyncGenerator<string> {
  const turns = new EventLoopTurns()
  let after = beforeAll
  let lines: string[] = []
  let bytes = 0
  while (true) {
    const page = { after, limit: documentsAtOnce, maxBytes: pieceBytes / 4 }
    const documents = await listPlaced(reader, fileId, page)
    const last = documents.at(-1)
    if (!last) break
    for (const { collectionPath, id, text } of documents) {
      const line = `{"path":${JSON.stringify(`${collectionPath}/${id}`)},"data":${text}}\n`
      const size = Buffer.byteLength(line)
      if (lines.length > 0 && bytes + size > pieceBytes) {
        yield lines.join('')
        lines = []
        bytes = 0
      }
      lines.push(line)
      bytes += size
    }
    after = last.place
    await turns.giveWay()
  }
  if (lines.length > 0) yield lines.join('')
}

/** A document of a line. */
export interface LineDocument {
  readonly path: string
  readonly data: JsonObject
}

export function parseLines(piece: string): LineDocument[] {
  return piece
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const value: unknown = JSON.parse(line)
      if (!isJsonObject(value) || typeof value.path !== 'string' || !isJsonObject(value.data))
        throw new Error('A line of a snapshot is no document')
      return { path: value.path, data: value.data }
    })
}

/** Bytes in pieces of at most 1 MiB. */
export function* cutPieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += pieceBytes) yield bytes.subarray(from, from + pieceBytes)
}
