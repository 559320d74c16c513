import type { FileId } from '@kith/protocol'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { FileTables } from '../file-store.ts'

/** Changes the size of a document or a database, which is never below nothing. Answers by how much. */
export async function addToSize(tx: Writer, fileId: FileId, bytes: number): Promise<number> {
  const size = await findSize(tx, fileId)
  if (size === undefined) return 0
  const change = Math.max(bytes, -size)
  if (change !== 0)
    await tx
      .tables<FileTables>()
      .updateTable('files')
      .set((row) => ({ size: row('size', '+', change) }))
      .where('tenant_id', '=', tx.tenantId)
      .where('file_id', '=', fileId)
      .execute()
  return change
}

async function findSize(reader: Reader, fileId: FileId): Promise<number | undefined> {
  const row = await reader
    .tables<FileTables>()
    .selectFrom('files')
    .select('size')
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', '=', fileId)
    .where('file_tp', 'in', ['CRDT', 'RTDB'])
    .where('is_copy', '=', 0)
    .executeTakeFirst()
  return row?.size
}
