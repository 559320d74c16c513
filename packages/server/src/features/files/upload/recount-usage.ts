import type { FileId, FileType } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import type { FileTables } from '../file-store.ts'
import { kindOfContent, type StorageKind } from './storage-kind.ts'
import { changeUsage, type SizedBlob, type StorageTables } from './storage-store.ts'

type Tables = StorageTables & FileTables

/** Notes how many bytes of a blob have come. */
export async function setBlobSize(tx: Writer, { hash, size }: SizedBlob): Promise<void> {
  await tx
    .tables<StorageTables>()
    .updateTable('blobs')
    .set({ size })
    .where('tenant_id', '=', tx.tenantId)
    .where('blob_hash', '=', hash)
    .execute()
}

/** The content of a document or a database, as its room has it. */
interface StoredContent {
  readonly fileId: FileId
  readonly bytes: number
}

/** Counts what a tenant uses from its rows, for one that has no count yet because it has come from elsewhere. Of
 * documents and databases a file may say less than there is. */
export async function recountUsage(tx: Writer, contents: readonly StoredContent[]): Promise<void> {
  const tables = tx.tables<Tables>()
  for (const { fileId, bytes } of contents)
    await tables
      .updateTable('files')
      .set({ size: bytes })
      .where('tenant_id', '=', tx.tenantId)
      .where('file_id', '=', fileId)
      .where('size', '<', bytes)
      .execute()
  const blobs = await tables
    .selectFrom('blobs')
    .select((row) => ['kind', row.fn.sum<number>('size').as('bytes')])
    .where('tenant_id', '=', tx.tenantId)
    .where('uses', '>', 0)
    .groupBy('kind')
    .execute()
  for (const { kind, bytes } of blobs)
    await changeUsage(tx, { bytes: Number(bytes), kind: kind as StorageKind, files: 0 })
  const files = await tables
    .selectFrom('files')
    .select((row) => ['file_tp', row.fn.countAll<number>().as('files')])
    // The content of documents and databases has no blob.
    .select((row) =>
      row.fn.sum<number>(row.case().when('is_copy', '=', 0).then(row.ref('size')).else(0).end()).as('bytes'),
    )
    .where('tenant_id', '=', tx.tenantId)
    .groupBy('file_tp')
    .execute()
  for (const { file_tp: fileTp, files: count, bytes } of files)
    await changeUsage(tx, {
      bytes: hasContent(fileTp) ? Number(bytes) : 0,
      kind: kindOfContent(fileTp as FileType),
      files: Number(count),
    })
}

function hasContent(fileTp: string): boolean {
  return fileTp === 'CRDT' || fileTp === 'RTDB'
}
