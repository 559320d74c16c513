import type { FileId } from '@kith/protocol'
import { sql } from 'kysely'
import type { Reader } from '#infra/db/index.ts'

interface Parts {
  tenant_id: number
  file_id: FileId
  bytes: Uint8Array
}

/** What the logs of the reader's documents take, without their histories. */
export async function listDocumentBytes(reader: Reader): Promise<{ fileId: FileId; bytes: number }[]> {
  const rows = await reader
    .tables<{ crdt_updates: Parts }>()
    .selectFrom('crdt_updates')
    .select(['file_id', sql<number>`sum(length(bytes))`.as('total')])
    .where('tenant_id', '=', reader.tenantId)
    .groupBy('file_id')
    .execute()
  return rows.map((row) => ({ fileId: row.file_id, bytes: Number(row.total) }))
}
