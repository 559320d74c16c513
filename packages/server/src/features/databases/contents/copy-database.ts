import type { FileId } from '@kith/protocol'
import type { Database, TenantId, Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import type { DatabaseKey } from '../engine/database.ts'
import { lockDatabase, updateDatabase } from '../engine/database-store.ts'
import { DocumentWriter } from '../engine/document-writer.ts'
import { type FieldIndex, insertIndex, listIndexes } from '../engine/index-store.ts'
import { parsePath } from '../engine/paths.ts'
import type { LineDocument } from './document-lines.ts'

interface CopyDeps {
  readonly db: Database
  readonly clock: Clock
}

interface DatabaseCopy {
  readonly tenantId: TenantId
  readonly from: FileId
  readonly to: FileId
  /** Of `from` at one moment, in pieces. */
  readonly documents: AsyncIterable<readonly LineDocument[]>
}

const inBackground = { isolation: 'read-committed', isBackground: true } as const
// Other writers wait for each transaction: a bound on its work.
const workBytesAtOnce = 4 * 1024 ** 2

/** Copies the documents and indexes of a database to a new one, in portions. Answers its bytes, which are counted already. */
export async function copyDatabase(
  deps: CopyDeps,
  { tenantId, from, to, documents }: DatabaseCopy,
): Promise<number> {
  const { db } = deps
  const made: readonly FieldIndex[] = await listIndexes(db.reader(tenantId), from)
  // The copy writes index entries with each document, so its indexes are complete from the start.
  const indexes = made.map((index) => ({ ...index, builtTo: null }))
  await db.transact(
    tenantId,
    async (tx) => {
      for (const index of indexes) await insertIndex(tx, to, index)
    },
    inBackground,
  )
  let bytes = 0
  for await (const piece of documents)
    for (let left = piece; left.length > 0; ) {
      const written = await db.transact(
        tenantId,
        (tx) => writeSome(tx, { ...deps, fileId: to, indexes, documents: left }),
        inBackground,
      )
      left = left.slice(written.count)
      bytes = written.bytes
    }
  return bytes
}

interface Portion extends Pick<CopyDeps, 'clock'>, Pick<DatabaseKey, 'fileId'> {
  readonly indexes: readonly FieldIndex[]
  readonly documents: readonly LineDocument[]
}

/** Answers how many documents it has written, and the bytes of the database. */
async function writeSome(
  tx: Writer,
  { clock, fileId, indexes, documents }: Portion,
): Promise<{ readonly count: number; readonly bytes: number }> {
  const state = await lockDatabase(tx, fileId)
  const writer = new DocumentWriter(tx, {
    ...{ fileId, indexes, now: nowSecs(clock) },
    isUnbounded: true,
  })
  let count = 0
  for (const { path, data } of documents) {
    await writer.write(parsePath(path, 'document'), undefined, data)
    count += 1
    if (writer.workBytes > workBytesAtOnce) break
  }
  const bytes = state.bytes + writer.bytes
  // A new database has no subscriptions yet, so its documents need no log and no new numbers.
  await updateDatabase(tx, fileId, { ...state, bytes, countedBytes: bytes })
  return { count, bytes }
}
