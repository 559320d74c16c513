import type { FileId } from '@kith/protocol'
import type { FileContents, Restoration } from '#features/files/index.ts'
import type { Database, Reader } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { AtFile } from './documents-tables.ts'
import { copyState } from './history/copy-state.ts'
import {
  findNewestSnapshot,
  hasSnapshot,
  listSnapshots,
  readSnapshot,
  SnapshotGone,
} from './history/snapshot-store.ts'
import { copyDocument, removeDocuments } from './log/document-copies-store.ts'
import { findDocument, joined } from './log/document-log-store.ts'
import { CannotOpen } from './session/loaded-document.ts'
import type { Documents } from './session/open-documents.ts'
import { RequestFailed, ThreadDied } from './threads/document-thread.ts'

interface ContentsDeps {
  readonly db: Database
  readonly clock: Clock
  readonly documents: Documents
}

// Errors after which a former state replaces the whole document, since it cannot be restored as a change.
const unreadable = [CannotOpen, ThreadDied, RequestFailed]

/** The contents of documents, for the files room. */
export function documentContents(deps: ContentsDeps): FileContents {
  const { db, documents } = deps
  return {
    mediaType: 'application/x-crdt',
    present: (tenantId, fileId) => present(deps, { tenantId, fileId }),
    listSnapshots,
    snapshot: (tenantId, fileId, seq) => snapshot(db.reader(tenantId), fileId, seq),
    restore: (restoration) => restore(deps, restoration),
    copy: copyDocument,
    async copyAhead({ tenantId, from, to }) {
      const state = await stateOf(documents, { tenantId, fileId: from })
      return await copyState(deps, { tenantId, from, to, state })
    },
    remove: removeDocuments,
  }
}

async function* present({ db, documents }: ContentsDeps, at: AtFile): AsyncGenerator<Uint8Array> {
  const { tenantId, fileId } = at
  const reader = db.reader(tenantId)
  const stored = await findDocument(reader, fileId)
  if (!stored) return
  const newest = await findNewestSnapshot(reader, fileId)
  if (newest === stored.lastSeq) {
    yield* readSnapshot(reader, fileId, newest)
    return
  }
  // A compaction stores the state in parts: in one piece it would stay in memory as long as a slow reader takes.
  const seq = await documents.use(tenantId, fileId, async (session) => {
    await session.catchUp()
    const { seq } = session
    await session.compact()
    return seq
  })
  const compacted = (await findNewestSnapshot(reader, fileId)) ?? 0
  if (compacted >= seq) yield* readSnapshot(reader, fileId, compacted)
  else yield* inPieces(await stateOf(documents, at))
}

async function snapshot(
  reader: Reader,
  fileId: FileId,
  seq: number,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  return (await hasSnapshot(reader, fileId, seq)) ? readSnapshot(reader, fileId, seq) : undefined
}

async function restore(
  { db, documents }: ContentsDeps,
  { tenantId, fileId, seq, by }: Restoration,
): Promise<number> {
  const past = await snapshot(db.reader(tenantId), fileId, seq)
  if (!past) throw new Failure('E-NOTFOUND')
  const pieces = await Array.fromAsync(past).catch((error: unknown) => {
    throw error instanceof SnapshotGone ? new Failure('E-NOTFOUND') : error
  })
  const state = joined(pieces).slice()
  try {
    return await documents.use(tenantId, fileId, async (session) => {
      await session.catchUp()
      const change = await session.ask({ kind: 'restore', past: state })
      if (change && !(await session.write(by, change))) throw new Failure('E-QUOTA')
      return session.seq
    })
  } catch (error) {
    if (!unreadable.some((kind) => error instanceof kind)) throw error
    return await documents.replace({ tenantId, fileId }, state, by)
  }
}

function stateOf(documents: Documents, { tenantId, fileId }: AtFile): Promise<Uint8Array> {
  return documents.use(tenantId, fileId, async (session) => {
    await session.catchUp()
    return await session.ask({ kind: 'state' })
  })
}

const pieceBytes = 1024 ** 2

function* inPieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += pieceBytes) yield bytes.subarray(from, from + pieceBytes)
}
