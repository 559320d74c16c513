import type { FileId } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import { updateDocument } from './document-log-store.ts'
import { thinHistory } from './history.ts'
import { deleteSnapshots, listSnapshots, updateWriters } from './snapshot-store.ts'

/** Forgets what the history of a document keeps no longer. The document is locked by `tx`. */
export async function thinStoredHistory(tx: Writer, fileId: FileId, now: number): Promise<void> {
  const { removed, changed, nextAt } = thinHistory(await listSnapshots(tx, fileId), now)
  await deleteSnapshots(tx, fileId, removed)
  for (const snapshot of changed) await updateWriters(tx, fileId, snapshot)
  await updateDocument(tx, fileId, { thinAt: nextAt ?? null })
}
