import type { FileId } from '@kith/protocol'
import { forUpdate, type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'

interface DatabaseTables {
  rtdb_databases: {
    tenant_id: TenantId
    file_id: FileId
    last_seq: number
    bytes: number
    counted_bytes: number
    log_bytes: number
    writers: string
    snapshot_due_at: number | null
  }
}

/** How a database stands. */
export interface DatabaseState {
  readonly lastSeq: number
  /** Of documents and index entries. */
  readonly bytes: number
  /** How much of it the quota knows. */
  readonly countedBytes: number
  /** Of the log of changes, or more: what went for its age is not taken off. */
  readonly logBytes: number
  /** Accounts that wrote since the last snapshot. */
  readonly writers: readonly string[]
  /** Unix seconds; null when nothing was written since the last snapshot. */
  readonly snapshotDueAt: number | null
}

const none: DatabaseState = {
  lastSeq: 0,
  bytes: 0,
  countedBytes: 0,
  logBytes: 0,
  writers: [],
  snapshotDueAt: null,
}

type Key = { tenantId: TenantId; fileId: FileId }

const selectLocked = statement<DatabaseTables, Key, DatabaseTables['rtdb_databases']>(
  (tables, value, dialect) =>
    forUpdate(
      dialect,
      tables
        .selectFrom('rtdb_databases')
        .selectAll()
        .where('tenant_id', '=', value('tenantId'))
        .where('file_id', '=', value('fileId')),
    ),
)

/** Keeps other writers of the database out until the transaction ends. It must come first in its transaction. */
export async function lockDatabase(tx: Writer, fileId: FileId): Promise<DatabaseState> {
  const key = { tenantId: tx.tenantId, fileId }
  const row = await tx.first(selectLocked, key)
  if (row) return stateOf(row)
  await tx
    .tables<DatabaseTables>()
    .insertInto('rtdb_databases')
    .values(rowOf(key, none))
    .onConflict((conflict) => conflict.columns(['tenant_id', 'file_id']).doNothing())
    .execute()
  const made = await tx.first(selectLocked, key)
  return made ? stateOf(made) : none
}

const update = statement<DatabaseTables, Key & Omit<DatabaseState, 'writers'> & { writers: string }, unknown>(
  (tables, value) =>
    tables
      .updateTable('rtdb_databases')
      .set({
        last_seq: value('lastSeq'),
        bytes: value('bytes'),
        counted_bytes: value('countedBytes'),
        log_bytes: value('logBytes'),
        writers: value('writers'),
        snapshot_due_at: value('snapshotDueAt'),
      })
      .where('tenant_id', '=', value('tenantId'))
      .where('file_id', '=', value('fileId')),
)

export async function updateDatabase(tx: Writer, fileId: FileId, state: DatabaseState): Promise<void> {
  const writers = JSON.stringify(state.writers)
  await tx.change(update, { tenantId: tx.tenantId, fileId, ...state, writers })
}

const selectState = statement<DatabaseTables, Key, DatabaseTables['rtdb_databases']>((tables, value) =>
  tables
    .selectFrom('rtdb_databases')
    .selectAll()
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId')),
)

/** That of a database that nothing was ever written to is like that of an empty one. */
export async function findState(reader: Reader, fileId: FileId): Promise<DatabaseState> {
  const row = await reader.first(selectState, { tenantId: reader.tenantId, fileId })
  return row ? stateOf(row) : none
}

/** NOTE: over all tenants: databases whose snapshot is due, the oldest first. */
export async function listSnapshotsDue(
  reader: Reader,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<Key[]> {
  const rows = await reader
    .tables<DatabaseTables>()
    .selectFrom('rtdb_databases')
    .select(['tenant_id', 'file_id'])
    .where('snapshot_due_at', 'is not', null)
    .where('snapshot_due_at', '<=', now)
    .orderBy('snapshot_due_at')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ tenantId: row.tenant_id, fileId: row.file_id }))
}

function stateOf(row: DatabaseTables['rtdb_databases']): DatabaseState {
  return {
    lastSeq: row.last_seq,
    bytes: row.bytes,
    countedBytes: row.counted_bytes,
    logBytes: row.log_bytes,
    writers: JSON.parse(row.writers) as string[],
    snapshotDueAt: row.snapshot_due_at,
  }
}

function rowOf({ tenantId, fileId }: Key, state: DatabaseState): DatabaseTables['rtdb_databases'] {
  return {
    tenant_id: tenantId,
    file_id: fileId,
    last_seq: state.lastSeq,
    bytes: state.bytes,
    counted_bytes: state.countedBytes,
    log_bytes: state.logBytes,
    writers: JSON.stringify(state.writers),
    snapshot_due_at: state.snapshotDueAt,
  }
}
