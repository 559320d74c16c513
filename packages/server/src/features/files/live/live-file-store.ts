import type { FileId, IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { FileTables } from '../file-store.ts'
import { isInTrash } from '../folders/folder-change-predicate.ts'

/** Whether there is such a file, outside the trash, whoever may read it. */
export async function isLive(reader: Reader, fileId: FileId): Promise<boolean> {
  const row = await reader
    .tables<FileTables>()
    .selectFrom('files')
    .select('file_id')
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', '=', fileId)
    .where((file) => file.not(isInTrash('files', sql`${reader.tenantId}`)))
    .executeTakeFirst()
  return row !== undefined
}

/** Notes when the content was changed. Answers whose file it is; undefined when it is gone, or in the trash. */
export async function updateModified(tx: Writer, fileId: FileId, now: number): Promise<IdTag | undefined> {
  const row = await tx
    .tables<FileTables>()
    .updateTable('files')
    .set({ modified_at: now })
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', fileId)
    .where('status', '!=', 'D')
    .returning('owner_tag')
    .executeTakeFirst()
  return row?.owner_tag as IdTag | undefined
}
