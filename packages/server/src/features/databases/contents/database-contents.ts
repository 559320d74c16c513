import { promisify } from 'node:util'
import { inflate } from 'node:zlib'
import { type FileId, parseIdTag } from '@kith/protocol'
import type { CopyAhead, FileContents, Restoration } from '#features/files/index.ts'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { type EngineDeps, withFailures } from '../engine/apply-transaction.ts'
import type { DatabaseKey, LoggedChanges } from '../engine/database.ts'
import { findState, lockDatabase, updateDatabase } from '../engine/database-store.ts'
import { checkDatabase } from './check-database.ts'
import { copyDatabase } from './copy-database.ts'
import { copyRows, removeRows } from './database-rows-store.ts'
import { cutPieces, documentLines, type LineDocument, parseLines } from './document-lines.ts'
import { restoreDocuments } from './restore-snapshot.ts'
import { findPart, listStoredSnapshots, type StoredSnapshot } from './snapshot-store.ts'
import { takeSnapshot } from './take-snapshot.ts'

export interface ContentsDeps extends EngineDeps {
  /** Called after each commit, to tell the subscriptions. */
  readonly onChanged: (key: DatabaseKey, changed: LoggedChanges) => void
}

// A larger database is read from a snapshot: a slow reader would hold its transaction open.
const mostReadAtOnce = 4 * 1024 ** 2
const decompress = promisify(inflate)
// Parts are made of about a mebibyte. One that an import has brought along may stand for any number of bytes.
const largestPart = { maxOutputLength: 16 * 1024 ** 2 }

/** The contents of databases, for the files room. */
export function databaseContents(deps: ContentsDeps): FileContents {
  return {
    /** One document a line: `{"path", "data"}`. */
    mediaType: 'application/x-ndjson',
    present: (tenantId: TenantId, fileId: FileId) => present(deps, { tenantId, fileId }),
    async listSnapshots(reader: Reader, fileId: FileId) {
      const kept = await listStoredSnapshots(reader, fileId)
      return kept.filter(isWhole).map(({ seq, createdAt, size, writers }) => ({
        seq,
        createdAt,
        size,
        writers: writers.flatMap((writer) => parseIdTag(writer) ?? []),
      }))
    },
    async snapshot(tenantId: TenantId, fileId: FileId, seq: number) {
      const kept = await findSnapshot(deps, { tenantId, fileId }, seq)
      return kept && inPieces(partsOf(deps, { tenantId, fileId }, seq))
    },
    restore: (restoration: Restoration) => withFailures(() => restore(deps, restoration)),
    async copy(tx: Writer, from: FileId, to: FileId): Promise<number> {
      const { bytes } = await findState(tx, from)
      const state = await lockDatabase(tx, to)
      await copyRows(tx, from, to)
      await updateDatabase(tx, to, { ...state, bytes, countedBytes: bytes })
      return bytes
    },
    check: (tenantId: TenantId, fileId: FileId) => checkDatabase(deps, { tenantId, fileId }),
    copyAhead: (copy: CopyAhead) => copyAhead(deps, copy),
    remove: (tx: Writer, fileIds: readonly FileId[], limit: number) => removeRows(tx, fileIds, limit),
  }
}

async function* present(deps: ContentsDeps, key: DatabaseKey): AsyncGenerator<Uint8Array> {
  const { bytes } = await findState(deps.db.reader(key.tenantId), key.fileId)
  if (bytes <= mostReadAtOnce) {
    const lines = await deps.db.snapshot((reader) =>
      Array.fromAsync(documentLines(reader(key.tenantId), key.fileId)),
    )
    for (const piece of lines) yield* cutPieces(Buffer.from(piece))
    return
  }
  const seq = await takeSnapshot(deps, key)
  if (seq === undefined) throw new Failure('E-UNAVAILABLE', { retryAfterSecs: 5 })
  yield* inPieces(partsOf(deps, key, seq))
}

async function copyAhead(deps: ContentsDeps, { tenantId, from, to }: CopyAhead): Promise<number> {
  const key = { tenantId, fileId: from }
  const seq = await takeSnapshot(deps, key)
  if (seq === undefined) throw new Failure('E-UNAVAILABLE', { retryAfterSecs: 5 })
  const documents = documentsOf(partsOf(deps, key, seq))
  return await withFailures(() => copyDatabase(deps, { tenantId, from, to, documents }))
}

async function restore(deps: ContentsDeps, restoration: Restoration): Promise<number> {
  const { tenantId, fileId, seq } = restoration
  const key = { tenantId, fileId }
  if (!(await findSnapshot(deps, key, seq))) throw new Failure('E-NOTFOUND')
  // The present state becomes a snapshot, so that the restoration can be undone.
  await takeSnapshot(deps, key)
  return restoreDocuments(deps, { ...restoration, documents: documentsOf(partsOf(deps, key, seq)) })
}

async function* documentsOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<readonly LineDocument[]> {
  for await (const piece of pieces) yield parseLines(Buffer.from(piece).toString())
}

async function findSnapshot(
  { db }: ContentsDeps,
  { tenantId, fileId }: DatabaseKey,
  seq: number,
): Promise<StoredSnapshot | undefined> {
  const kept = await listStoredSnapshots(db.reader(tenantId), fileId)
  return kept.find((snapshot) => snapshot.seq === seq && isWhole(snapshot))
}

function isWhole({ storedBytes }: StoredSnapshot): boolean {
  return storedBytes !== null
}

/** The parts of a snapshot, each of whole lines. `E-UNAVAILABLE` where the history stops keeping it while it is read. */
async function* partsOf(deps: ContentsDeps, key: DatabaseKey, seq: number): AsyncGenerator<Uint8Array> {
  const { tenantId, fileId } = key
  let left = (await findSnapshot(deps, key, seq))?.size
  for (let part = 0; left !== undefined && left > 0; part += 1) {
    const data = await findPart(deps.db.reader(tenantId), fileId, { seq, part })
    if (!data) break
    const lines = await decompress(data, largestPart)
    left -= lines.length
    yield lines
  }
  if (left !== 0)
    throw new Failure('E-UNAVAILABLE', {
      message: 'The snapshot is not complete, or not kept any more.',
      retryAfterSecs: 5,
    })
}

async function* inPieces(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const part of parts) yield* cutPieces(part)
}
