import type { FileId } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import type { FileTables } from '../file-store.ts'

/** Notes of a file whose bytes are older than this note whether they are text in UTF-8. */
export async function noteText(tx: Writer, fileId: FileId, isUtf8: boolean): Promise<void> {
  await tx
    .tables<FileTables>()
    .updateTable('files')
    .set({ is_utf8: Number(isUtf8) })
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', fileId)
    .execute()
}
