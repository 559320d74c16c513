import type { ActionId, AttachedFile } from '@kith/protocol'
import type { Reader } from '#infra/db/index.ts'
import { attachedFileView } from '../file-view.ts'
import { listAttached } from './attached-files-store.ts'

/** What actions show of the files that are attached to them. */
export async function listAttachedFiles(
  reader: Reader,
  query: Parameters<typeof listAttached>[1],
): Promise<{ readonly actionId: ActionId; readonly file: AttachedFile }[]> {
  const attached = await listAttached(reader, query)
  return attached.map(({ actionId, file }) => ({ actionId, file: attachedFileView(file) }))
}
