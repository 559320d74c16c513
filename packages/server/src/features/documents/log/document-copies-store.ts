import type { FileId } from '@kith/protocol'
import { sql } from 'kysely'
import type { Writer } from '#infra/db/index.ts'
import type { DocumentTables } from '../documents-tables.ts'
import { findNewestSnapshot } from '../history/snapshot-store.ts'
import { findDocument, insertDocument, sumUpdates, updateDocument } from './document-log-store.ts'

/** Gives a new file what another has stored: the newest snapshot and the log after it, without the history and without
 * who wrote. Answers the bytes, which the caller counts. */
export async function copyDocument(tx: Writer, from: FileId, to: FileId): Promise<number> {
  const stored = await findDocument(tx, from)
  if (!stored || !(await insertDocument(tx, to))) return 0
  const newest = await findNewestSnapshot(tx, from)
  if (newest !== undefined) await copySnapshot(tx, { from, to, seq: newest })
  await copyUpdates(tx, { from, to, after: newest ?? 0 })
  const logBytes = await sumUpdates(tx, to, newest ?? 0)
  const { lastSeq, stateBytes, openMs } = stored
  await updateDocument(tx, to, { lastSeq, stateBytes, logBytes, openMs })
  return stateBytes + logBytes
}

interface Copied {
  readonly from: FileId
  readonly to: FileId
}

async function copySnapshot(tx: Writer, { from, to, seq }: Copied & { readonly seq: number }): Promise<void> {
  const tables = tx.tables<DocumentTables>()
  await tables
    .insertInto('crdt_snapshots')
    .columns(['tenant_id', 'file_id', 'seq', 'created_at', 'size', 'writers', 'quarantined_at'])
    .expression(
      tables
        .selectFrom('crdt_snapshots')
        .select([
          'tenant_id',
          sql<FileId>`cast(${to} as text)`.as('file_id'),
          'seq',
          'created_at',
          'size',
          sql<string>`'[]'`.as('writers'),
          'quarantined_at',
        ])
        .where('tenant_id', '=', tx.tenantId)
        .where('file_id', '=', from)
        .where('seq', '=', seq),
    )
    .execute()
  await tables
    .insertInto('crdt_snapshot_parts')
    .columns(['tenant_id', 'file_id', 'seq', 'part', 'bytes'])
    .expression(
      tables
        .selectFrom('crdt_snapshot_parts')
        .select(['tenant_id', sql<FileId>`cast(${to} as text)`.as('file_id'), 'seq', 'part', 'bytes'])
        .where('tenant_id', '=', tx.tenantId)
        .where('file_id', '=', from)
        .where('seq', '=', seq),
    )
    .execute()
}

async function copyUpdates(
  tx: Writer,
  { from, to, after }: Copied & { readonly after: number },
): Promise<void> {
  const tables = tx.tables<DocumentTables>()
  await tables
    .insertInto('crdt_updates')
    .columns(['tenant_id', 'file_id', 'seq', 'part', 'bytes', 'writers', 'updates', 'quarantined_at'])
    .expression(
      tables
        .selectFrom('crdt_updates')
        .select([
          'tenant_id',
          sql<FileId>`cast(${to} as text)`.as('file_id'),
          'seq',
          'part',
          'bytes',
          sql<string | null>`cast(null as text)`.as('writers'),
          'updates',
          'quarantined_at',
        ])
        .where('tenant_id', '=', tx.tenantId)
        .where('file_id', '=', from)
        .where('seq', '>', after),
    )
    .execute()
}

// The document first: from then on nothing is appended to it.
const removed = ['crdt_documents', 'crdt_updates', 'crdt_snapshots', 'crdt_snapshot_parts'] as const
// What one statement takes with ease.
const filesAtOnce = 1000

/** Removes up to so many rows of documents that are gone; true when nothing of them is left. */
export async function removeDocuments(
  tx: Writer,
  fileIds: readonly FileId[],
  limit: number,
): Promise<boolean> {
  let left = limit
  for (let from = 0; from < fileIds.length; from += filesAtOnce)
    for (const table of removed) {
      left -= await removeRows(tx, table, { fileIds: fileIds.slice(from, from + filesAtOnce), limit: left })
      if (left <= 0) return false
    }
  return true
}

async function removeRows(
  tx: Writer,
  table: (typeof removed)[number],
  { fileIds, limit }: { readonly fileIds: readonly FileId[]; readonly limit: number },
): Promise<number> {
  const tables = tx.tables<DocumentTables>()
  const address = sql.ref(tx.dialect === 'postgres' ? 'ctid' : 'rowid')
  const some = tables
    .selectFrom(table)
    .select(sql<string>`${address}`.as('address'))
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', 'in', fileIds)
    .limit(limit)
  const { numDeletedRows } = await tables
    .deleteFrom(table)
    .where(sql<boolean>`${address} in ${some}`)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
