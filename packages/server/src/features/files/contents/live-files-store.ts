import type { FileId } from '@kith/protocol'
import type { Reader } from '#infra/db/index.ts'
import type { FileTables } from '../file-store.ts'
import type { LiveFileType } from './file-contents.ts'

/** The documents and databases of a tenant whose content is here, those in the trash included, by their ids. */
export async function listContentFiles(
  reader: Reader,
  { after, limit }: { readonly after: FileId | undefined; readonly limit: number },
): Promise<{ readonly fileId: FileId; readonly fileTp: LiveFileType }[]> {
  return await reader
    .tables<FileTables>()
    .selectFrom('files')
    .select(['file_id as fileId', 'file_tp as fileTp'])
    .where('tenant_id', '=', reader.tenantId)
    .where('file_tp', 'in', ['CRDT', 'RTDB'])
    .where('is_copy', '=', 0)
    .where('file_id', '>', after ?? ('' as FileId))
    .orderBy('file_id')
    .limit(limit)
    .$castTo<{ fileId: FileId; fileTp: LiveFileType }>()
    .execute()
}
