import type { FileId, IdTag } from '@kith/protocol'
import { idTagOf } from '#infra/caller/index.ts'
import type { Database, TenantId } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { writeLevel } from '../access/file-viewer.ts'
import { assertNotTrashed, type FileQuestion, getFile } from '../access/read-file.ts'
import type { FileEmitter } from '../events.ts'
import type { StoredFile } from '../file.ts'
import { updateModified } from '../live/live-file-store.ts'
import type { StorageLimits } from '../upload/reserve-storage.ts'
import { type ContentSnapshot, type ContentsByType, contentsOf, type FileContents } from './file-contents.ts'

export interface HistoryDeps extends FileEmitter {
  readonly db: Database
  readonly clock: Clock
  readonly contents: ContentsByType
  readonly limitsOf: (tenantId: TenantId) => Promise<StorageLimits>
}

interface SnapshotQuestion extends FileQuestion {
  readonly seq: number
}

/** The snapshots of a document or a database, the newest first, for those with the right to write: readers may see the
 * present content, and not what was deleted from it. */
export async function listHistory(
  deps: HistoryDeps,
  question: FileQuestion,
): Promise<readonly ContentSnapshot[]> {
  const { file } = await getFile(deps, question, writeLevel)
  return await historyOf(deps, file).listSnapshots(deps.db.reader(question.tenant.tenantId), file.fileId)
}

/** The bytes of a snapshot, for those with the right to write. */
export async function getSnapshot(
  deps: HistoryDeps,
  { seq, ...question }: SnapshotQuestion,
): Promise<{ readonly file: StoredFile; readonly pieces: AsyncIterable<Uint8Array> }> {
  const { file } = await getFile(deps, question, writeLevel)
  const pieces = await historyOf(deps, file).snapshot(question.tenant.tenantId, file.fileId, seq)
  if (!pieces) throw new Failure('E-NOTFOUND')
  return { file, pieces }
}

/** Makes a document or a database what it was, as a change of the caller's. Answers the number of that change. */
export async function restoreSnapshot(
  deps: HistoryDeps,
  { seq, ...question }: SnapshotQuestion,
): Promise<number> {
  const { tenantId } = question.tenant
  const { file } = await getFile(deps, question, writeLevel)
  assertNotTrashed(file)
  const contents = historyOf(deps, file)
  const by: IdTag | undefined = idTagOf(question.caller)
  const limits = await deps.limitsOf(tenantId)
  const restored = await contents.restore({ tenantId, fileId: file.fileId, seq, by, limits })
  await noteRestored(deps, tenantId, file.fileId)
  return restored
}

async function noteRestored(
  { db, clock, emit }: HistoryDeps,
  tenantId: TenantId,
  fileId: FileId,
): Promise<void> {
  await db.transact(tenantId, async (tx) => {
    const ownerTag = await updateModified(tx, fileId, nowSecs(clock))
    if (ownerTag !== undefined) await emit(tx, { kind: 'file.updated', fileId, to: [ownerTag] })
  })
}

/** Bytes never change, and what another server keeps has its history there. */
function historyOf({ contents }: HistoryDeps, { fileTp, isCopy }: StoredFile): FileContents {
  const found = isCopy ? undefined : contentsOf(contents, fileTp)
  if (!found) throw new Failure('E-STATE', { message: 'This file has no history here.' })
  return found
}
