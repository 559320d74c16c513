import type { FileId } from '@kith/protocol'
import { sql } from 'kysely'
import type { Reader } from '#infra/db/index.ts'

interface Documents {
  tenant_id: number
  file_id: FileId
  data: string
}

/** What the documents of the reader's databases take. */
export async function listDatabaseBytes(reader: Reader): Promise<{ fileId: FileId; bytes: number }[]> {
  const rows = await reader
    .tables<{ rtdb_documents: Documents }>()
    .selectFrom('rtdb_documents')
    .select(['file_id', sql<number>`sum(length(data))`.as('total')])
    .where('tenant_id', '=', reader.tenantId)
    .groupBy('file_id')
    .execute()
  return rows.map((row) => ({ fileId: row.file_id, bytes: Number(row.total) }))
}
