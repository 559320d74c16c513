import type { FileId } from '@kith/protocol'
import type { Database, Reader } from '#infra/db/index.ts'
import { EventLoopTurns } from '#lib/event-loop-turns.ts'
import type { DatabaseKey } from '../engine/database.ts'
import { findState } from '../engine/database-store.ts'
import { entryBytes, weightOf } from '../engine/document-writer.ts'
import { countEntries, type FieldIndex, listIndexes } from '../engine/index-store.ts'
import { parsePath } from '../engine/paths.ts'
import { listPlaced, type PlacedDocument } from '../engine/placed-documents-store.ts'
import { collectionKey, compareKept, entryKeys } from '../engine/sort-keys.ts'
import { isJsonObject, type JsonObject, memberOf } from '../engine/values.ts'
import { beforeAll } from './document-lines.ts'

const documentsAtOnce = 300
const bytesAtOnce = 256 * 1024

/** What is wrong with what is stored of a database, at one moment; undefined when every document can be read, and has the index
 * entries and the size that it should. */
export function checkDatabase(
  { db }: { readonly db: Database },
  { tenantId, fileId }: DatabaseKey,
): Promise<string | undefined> {
  return db.snapshot((readerOf) => check(readerOf(tenantId), fileId))
}

async function check(reader: Reader, fileId: FileId): Promise<string | undefined> {
  const indexes = await listIndexes(reader, fileId)
  const turns = new EventLoopTurns()
  let [bytes, entries] = [0, 0]
  let after = beforeAll
  while (true) {
    const page = { after, limit: documentsAtOnce, maxBytes: bytesAtOnce }
    const documents = await listPlaced(reader, fileId, page)
    for (const document of documents) {
      const data = dataOf(document)
      const path = parsePath(`${document.collectionPath}/${document.id}`, 'document')
      if (!data) return `${path.text} is no document of ${document.size} bytes`
      const keys = indexes.filter((index) => covers(index, document)).flatMap((index) => keysOf(index, data))
      bytes += weightOf(path, document.size) + entryBytes(keys, path.id)
      entries += keys.length
    }
    const last = documents.at(-1)
    if (!last) break
    after = last.place
    await turns.giveWay()
  }
  const state = await findState(reader, fileId)
  const stored = await countEntries(reader, fileId)
  if (stored !== entries) return `its indexes have ${stored} entries instead of ${entries}`
  return state.bytes === bytes ? undefined : `it counts ${state.bytes} bytes instead of ${bytes}`
}

function dataOf({ text, size }: PlacedDocument): JsonObject | undefined {
  const data: unknown = JSON.parse(text)
  return isJsonObject(data) && Buffer.byteLength(text) === size ? data : undefined
}

function covers({ collection, builtTo }: FieldIndex, { collectionPath, place }: PlacedDocument): boolean {
  return (
    collection === collectionKey(collectionPath) && (builtTo === null || compareKept(place.id, builtTo) <= 0)
  )
}

function keysOf({ field }: FieldIndex, data: JsonObject): string[] {
  return entryKeys(memberOf(data, field))
}
