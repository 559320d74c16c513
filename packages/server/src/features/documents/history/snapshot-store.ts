import type { FileId, IdTag } from '@kith/protocol'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
import { type DocumentTables, partsOf } from '../documents-tables.ts'
import { joined } from '../log/document-log-store.ts'
import type { Snapshot } from './history.ts'

/** A query of the snapshots of a document that can be read. */
function snapshotsOf(reader: Reader, fileId: FileId) {
  return reader
    .tables<DocumentTables>()
    .selectFrom('crdt_snapshots')
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', '=', fileId)
    .where('quarantined_at', 'is', null)
}

/** The snapshots of a document, the newest first. Bound: what the history keeps. */
export async function listSnapshots(reader: Reader, fileId: FileId): Promise<Snapshot[]> {
  const rows = await snapshotsOf(reader, fileId)
    .select(['seq', 'created_at', 'size', 'writers'])
    .orderBy('seq', 'desc')
    .execute()
  return rows.map(({ seq, created_at, size, writers }) => ({
    seq,
    createdAt: created_at,
    size,
    writers: JSON.parse(writers) as IdTag[],
  }))
}

/** The number of the newest snapshot. */
export async function findNewestSnapshot(reader: Reader, fileId: FileId): Promise<number | undefined> {
  const row = await snapshotsOf(reader, fileId)
    .select('seq')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.seq
}

/** Some of the parts of a snapshot, in order. */
export async function listSnapshotParts(
  reader: Reader,
  fileId: FileId,
  { seq, after, limit }: { readonly seq: number; readonly after: number; readonly limit: number },
): Promise<Uint8Array[]> {
  const rows = await reader
    .tables<DocumentTables>()
    .selectFrom('crdt_snapshot_parts')
    .select('bytes')
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', '=', fileId)
    .where('seq', '=', seq)
    .where('part', '>', after)
    .orderBy('part')
    .limit(limit)
    .execute()
  return rows.map(({ bytes }) => bytes)
}

const partsAtOnce = 8

/** The history does not keep the snapshot any more: a newer one has taken its place while it was read. */
export class SnapshotGone extends Error {}

/** A snapshot in pieces of 1 MiB. Throws `SnapshotGone`. */
export async function* readSnapshot(
  reader: Reader,
  fileId: FileId,
  seq: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const row = await snapshotsOf(reader, fileId).select('size').where('seq', '=', seq).executeTakeFirst()
  if (!row) throw new SnapshotGone()
  let left = row.size
  for (let after = -1; left > 0; after += partsAtOnce) {
    const parts = await listSnapshotParts(reader, fileId, { seq, after, limit: partsAtOnce })
    if (parts.length === 0) throw new SnapshotGone()
    const piece = joined(parts)
    left -= piece.length
    yield piece
  }
}

export async function insertSnapshot(
  tx: Writer,
  fileId: FileId,
  { state, ...snapshot }: Omit<Snapshot, 'size'> & { readonly state: Uint8Array },
): Promise<void> {
  await insertSnapshotRow(tx, fileId, { ...snapshot, size: state.length })
  await insertSnapshotParts(tx, fileId, { seq: snapshot.seq, first: 0, parts: partsOf(state) })
}

/** A snapshot without its parts. */
export async function insertSnapshotRow(
  tx: Writer,
  fileId: FileId,
  { seq, createdAt, size, writers }: Snapshot,
): Promise<void> {
  await tx
    .tables<DocumentTables>()
    .insertInto('crdt_snapshots')
    .values({
      ...{ tenant_id: tx.tenantId, file_id: fileId, seq, size },
      created_at: createdAt,
      writers: JSON.stringify(writers),
      quarantined_at: null,
    })
    .execute()
}

/** Parts of a snapshot, from number `first` on. */
export async function insertSnapshotParts(
  tx: Writer,
  fileId: FileId,
  {
    seq,
    first,
    parts,
  }: { readonly seq: number; readonly first: number; readonly parts: readonly Uint8Array[] },
): Promise<void> {
  for (const [at, bytes] of parts.entries())
    await tx
      .tables<DocumentTables>()
      .insertInto('crdt_snapshot_parts')
      .values({ tenant_id: tx.tenantId, file_id: fileId, seq, part: first + at, bytes })
      .execute()
}

/** Changes who wrote a snapshot, or keeps one that cannot be read away from the others. */
export async function updateSnapshot(
  tx: Writer,
  fileId: FileId,
  {
    seq,
    writers,
    quarantinedAt,
  }: Pick<Snapshot, 'seq'> & Partial<Pick<Snapshot, 'writers'>> & { quarantinedAt?: number },
): Promise<void> {
  await tx
    .tables<DocumentTables>()
    .updateTable('crdt_snapshots')
    .set({
      ...(writers === undefined ? {} : { writers: JSON.stringify(writers) }),
      ...(quarantinedAt === undefined ? {} : { quarantined_at: quarantinedAt }),
    })
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', fileId)
    .where('seq', '=', seq)
    .execute()
}

export async function deleteSnapshots(tx: Writer, fileId: FileId, seqs: readonly number[]): Promise<void> {
  if (seqs.length === 0) return
  for (const table of ['crdt_snapshot_parts', 'crdt_snapshots'] as const)
    await tx
      .tables<DocumentTables>()
      .deleteFrom(table)
      .where('tenant_id', '=', tx.tenantId)
      .where('file_id', '=', fileId)
      .where('seq', 'in', seqs)
      .execute()
}

/** NOTE: over all tenants: documents whose history has something to forget. */
export async function listThinnable(
  reader: Reader,
  { upTo, limit }: { readonly upTo: number; readonly limit: number },
): Promise<{ readonly tenantId: TenantId; readonly fileId: FileId }[]> {
  const rows = await reader
    .tables<DocumentTables>()
    .selectFrom('crdt_documents')
    .select(['tenant_id', 'file_id'])
    .where('thin_at', 'is not', null)
    .where('thin_at', '<=', upTo)
    .orderBy('thin_at')
    .limit(limit)
    .execute()
  return rows.map(({ tenant_id, file_id }) => ({ tenantId: tenant_id, fileId: file_id }))
}

export async function hasSnapshot(reader: Reader, fileId: FileId, seq: number): Promise<boolean> {
  const row = await snapshotsOf(reader, fileId).select('seq').where('seq', '=', seq).executeTakeFirst()
  return row !== undefined
}
