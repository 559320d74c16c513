import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Reader } from '#infra/db/index.ts'
import type { FileTables } from '../file-store.ts'

/** More files than these are not looked at for the size of the trash. */
export const maxSizedFiles = 100_000

// NOTE: the condition of the index stands here word for word; a copy without bytes takes no room.
const takesRoomInTrash: RawBuilder<SqlBool> = sql`(status = 'D' and file_tp <> 'FLDR'
  and (blob_hash is not null or is_copy = 0))`

/** How many files are in the trash, folders left out, and what they take. */
export async function sumTrash(
  reader: Reader,
  maxFiles = maxSizedFiles,
): Promise<{ readonly files: number; readonly bytes: number }> {
  const tables = reader.tables<FileTables>()
  const sizes = tables
    .selectFrom('files')
    .select('size')
    .where('tenant_id', '=', reader.tenantId)
    .where(takesRoomInTrash)
    .limit(maxFiles)
  const row = await tables
    .selectFrom(sizes.as('trashed'))
    .select((column) => [
      column.fn.countAll<number>().as('files'),
      column.fn.sum<number | string | null>('size').as('bytes'),
    ])
    .executeTakeFirstOrThrow()
  return { files: Number(row.files), bytes: Number(row.bytes ?? 0) }
}
