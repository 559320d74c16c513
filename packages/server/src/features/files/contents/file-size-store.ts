import type { FileId, FileType } from '@kith/protocol'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { FileTables } from '../file-store.ts'

/** Changes the size of a document or a database, which is never below nothing. Answers by how much. */
export async function addToSize(
  tx: Writer,
  fileId: FileId,
  bytes: number,
): Promise<{ readonly change: number; readonly fileTp: FileType } | undefined> {
  const file = await findSized(tx, fileId)
  if (!file) return undefined
  const change = Math.max(bytes, -file.size)
  if (change !== 0)
    await tx
      .tables<FileTables>()
      .updateTable('files')
      .set((row) => ({ size: row('size', '+', change) }))
      .where('tenant_id', '=', tx.tenantId)
      .where('file_id', '=', fileId)
      .execute()
  return { change, fileTp: file.file_tp as FileType }
}

async function findSized(reader: Reader, fileId: FileId) {
  return await reader
    .tables<FileTables>()
    .selectFrom('files')
    .select(['size', 'file_tp'])
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', '=', fileId)
    .where('file_tp', 'in', ['CRDT', 'RTDB'])
    .where('is_copy', '=', 0)
    .executeTakeFirst()
}
