import type { FileId } from '@kith/protocol'
import type { Reader, TenantId } from '#infra/db/index.ts'

interface SeqTables {
  rtdb_databases: { tenant_id: TenantId; file_id: FileId; last_seq: number }
}

// Bound values of one statement.
const filesAtOnce = 500

/** The number of the last transaction of each of these databases; a database without one has none. */
export async function listLastSeqs(
  from: Reader,
  fileIds: readonly FileId[],
): Promise<ReadonlyMap<FileId, number>> {
  const seqs = new Map<FileId, number>()
  for (let at = 0; at < fileIds.length; at += filesAtOnce) {
    const rows = await from
      .tables<SeqTables>()
      .selectFrom('rtdb_databases')
      .select(['file_id', 'last_seq'])
      .where('tenant_id', '=', from.tenantId)
      .where('file_id', 'in', fileIds.slice(at, at + filesAtOnce))
      .execute()
    for (const { file_id, last_seq } of rows) seqs.set(file_id, last_seq)
  }
  return seqs
}
