import type { FileId } from '@kith/protocol'
import { type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'

interface SnapshotTables {
  rtdb_snapshots: {
    tenant_id: TenantId
    file_id: FileId
    seq: number
    created_at: number
    size: number
    stored_bytes: number
    writers: string
  }
  rtdb_snapshot_parts: {
    tenant_id: TenantId
    file_id: FileId
    seq: number
    part: number
    data: Uint8Array
  }
}

/** A state of a database that is kept, in parts. */
export interface StoredSnapshot {
  readonly seq: number
  /** Unix seconds. */
  readonly createdAt: number
  /** Of the lines. */
  readonly size: number
  /** Of its parts; null while it is being written. */
  readonly storedBytes: number | null
  /** Who wrote since the one before. */
  readonly writers: readonly string[]
}

const underWay = -1

/** Begins a snapshot; false when there is one of this state. */
export async function insertSnapshot(
  tx: Writer,
  fileId: FileId,
  snapshot: Pick<StoredSnapshot, 'seq' | 'createdAt' | 'writers'>,
): Promise<boolean> {
  const rows = await tx
    .tables<SnapshotTables>()
    .insertInto('rtdb_snapshots')
    .values({
      tenant_id: tx.tenantId,
      file_id: fileId,
      seq: snapshot.seq,
      created_at: snapshot.createdAt,
      size: 0,
      stored_bytes: underWay,
      writers: JSON.stringify(snapshot.writers),
    })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'file_id', 'seq']).doNothing())
    .returning('seq')
    .execute()
  return rows.length > 0
}

export async function finishSnapshot(
  tx: Writer,
  fileId: FileId,
  { seq, size, storedBytes }: { readonly seq: number; readonly size: number; readonly storedBytes: number },
): Promise<void> {
  await tx
    .tables<SnapshotTables>()
    .updateTable('rtdb_snapshots')
    .set({ size, stored_bytes: storedBytes })
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', fileId)
    .where('seq', '=', seq)
    .execute()
}

export async function insertPart(
  tx: Writer,
  fileId: FileId,
  { seq, part, data }: { readonly seq: number; readonly part: number; readonly data: Uint8Array },
): Promise<void> {
  await tx
    .tables<SnapshotTables>()
    .insertInto('rtdb_snapshot_parts')
    .values({ tenant_id: tx.tenantId, file_id: fileId, seq, part, data })
    .execute()
}

/** The newest first, those that are being written included. */
export async function listStoredSnapshots(reader: Reader, fileId: FileId): Promise<StoredSnapshot[]> {
  const rows = await reader
    .tables<SnapshotTables>()
    .selectFrom('rtdb_snapshots')
    .select(['seq', 'created_at', 'size', 'stored_bytes', 'writers'])
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', '=', fileId)
    .orderBy('seq', 'desc')
    .execute()
  return rows.map((row) => ({
    seq: row.seq,
    createdAt: row.created_at,
    size: row.size,
    storedBytes: row.stored_bytes === underWay ? null : row.stored_bytes,
    writers: JSON.parse(row.writers) as string[],
  }))
}

type PartKey = { tenantId: TenantId; fileId: FileId; seq: number; part: number }

const selectPart = statement<SnapshotTables, PartKey, { data: Uint8Array }>((tables, value) =>
  tables
    .selectFrom('rtdb_snapshot_parts')
    .select('data')
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .where('seq', '=', value('seq'))
    .where('part', '=', value('part')),
)

export async function findPart(
  reader: Reader,
  fileId: FileId,
  { seq, part }: { readonly seq: number; readonly part: number },
): Promise<Uint8Array | undefined> {
  const row = await reader.first(selectPart, { tenantId: reader.tenantId, fileId, seq, part })
  return row?.data
}

/** Removes some parts of a snapshot, the last first, and then the snapshot; true when that is done. */
export async function deleteSnapshotPortion(
  tx: Writer,
  fileId: FileId,
  { seq, limit }: { readonly seq: number; readonly limit: number },
): Promise<boolean> {
  const tables = tx.tables<SnapshotTables>()
  const parts = await tables
    .selectFrom('rtdb_snapshot_parts')
    .select('part')
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', fileId)
    .where('seq', '=', seq)
    .orderBy('part', 'desc')
    .limit(limit)
    .execute()
  const from = parts.at(-1)?.part ?? 0
  await tables
    .deleteFrom('rtdb_snapshot_parts')
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', fileId)
    .where('seq', '=', seq)
    .where('part', '>=', from)
    .execute()
  if (parts.length === limit) return false
  await tables
    .deleteFrom('rtdb_snapshots')
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', fileId)
    .where('seq', '=', seq)
    .execute()
  return true
}

/** Removes the parts of snapshots of the tenant that never became whole, as an import leaves them. */
export async function dropStrayParts(tx: Writer): Promise<void> {
  await tx
    .tables<SnapshotTables>()
    .deleteFrom('rtdb_snapshot_parts')
    .where('tenant_id', '=', tx.tenantId)
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom('rtdb_snapshots')
            .select('rtdb_snapshots.seq')
            .whereRef('rtdb_snapshots.tenant_id', '=', 'rtdb_snapshot_parts.tenant_id')
            .whereRef('rtdb_snapshots.file_id', '=', 'rtdb_snapshot_parts.file_id')
            .whereRef('rtdb_snapshots.seq', '=', 'rtdb_snapshot_parts.seq'),
        ),
      ),
    )
    .execute()
}
