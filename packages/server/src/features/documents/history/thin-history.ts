import type { FileId } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import { updateDocument } from '../log/document-log-store.ts'
import { thinHistory } from './history.ts'
import { deleteSnapshots, listSnapshots, updateSnapshot } from './snapshot-store.ts'

/** Removes the snapshots that the history no longer keeps. `tx` holds the lock of the document. */
export async function thinStoredHistory(tx: Writer, fileId: FileId, now: number): Promise<void> {
  const { removed, changed, nextAt } = thinHistory(await listSnapshots(tx, fileId), now)
  await deleteSnapshots(tx, fileId, removed)
  for (const snapshot of changed) await updateSnapshot(tx, fileId, snapshot)
  await updateDocument(tx, fileId, { thinAt: nextAt ?? null })
}
