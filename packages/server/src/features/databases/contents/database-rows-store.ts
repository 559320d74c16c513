import type { FileId } from '@kith/protocol'
import { sql } from 'kysely'
import type { Writer } from '#infra/db/index.ts'

// What is done to all rows of a database, table by table.

type Tables = Record<string, Record<string, string | number | null>>

/** The tables with rows of databases, and their keys behind tenant and file. */
const keys: Readonly<Record<string, readonly string[]>> = {
  rtdb_documents: ['collection', 'doc_id'],
  rtdb_index_entries: ['index_no', 'key', 'doc_id'],
  rtdb_indexes: ['index_no'],
  rtdb_changes: ['seq'],
  rtdb_transactions: ['account', 'tx_id'],
  rtdb_snapshot_parts: ['seq', 'part'],
  rtdb_snapshots: ['seq'],
  rtdb_locks: ['path'],
  rtdb_databases: [],
}

/** Removes up to `limit` rows of databases; true when nothing of them is left. */
export async function removeRows(tx: Writer, fileIds: readonly FileId[], limit: number): Promise<boolean> {
  let left = limit
  for (const fileId of fileIds)
    for (const [table, key] of Object.entries(keys)) {
      left -= await removeSome(tx, table, { fileId, key, limit: left })
      if (left <= 0) return false
    }
  return true
}

async function removeSome(
  tx: Writer,
  table: string,
  {
    fileId,
    key,
    limit,
  }: { readonly fileId: FileId; readonly key: readonly string[]; readonly limit: number },
): Promise<number> {
  const columns = sql.join(['tenant_id', 'file_id', ...key].map((column) => sql.ref(column)))
  const some = sql`(select ${columns} from ${sql.table(table)}
    where tenant_id = ${tx.tenantId} and file_id = ${fileId} limit ${limit})`
  const { numDeletedRows } = await tx
    .tables<Tables>()
    .deleteFrom(table)
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', fileId)
    .where(sql<boolean>`(${columns}) in ${some}`)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

const copied: Readonly<Record<string, readonly string[]>> = {
  rtdb_documents: ['collection', 'doc_id', 'size', 'collection_path', 'data'],
  rtdb_indexes: ['index_no', 'collection', 'field', 'built_to'],
  rtdb_index_entries: ['index_no', 'key', 'doc_id'],
}

/** Gives a database that has nothing the documents and indexes of another. */
export async function copyRows(tx: Writer, from: FileId, to: FileId): Promise<void> {
  for (const [table, columns] of Object.entries(copied)) {
    const tables = tx.tables<Tables>()
    await tables
      .insertInto(table)
      .columns(['tenant_id', 'file_id', ...columns])
      .expression(
        tables
          .selectFrom(table)
          .select(['tenant_id', sql<string>`cast(${to} as text)`.as('file_id'), ...columns])
          .where('tenant_id', '=', tx.tenantId)
          .where('file_id', '=', from),
      )
      .execute()
  }
}
