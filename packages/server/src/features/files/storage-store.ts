import type { BlobHash } from '#infra/blobs/index.ts'
import { type Reader, statement, type Writer } from '#infra/db/index.ts'

interface StorageTables {
  blobs: { tenant_id: number; blob_hash: string; size: number; uses: number }
  storage_usage: { tenant_id: number; used_bytes: number; files: number }
  storage_reservations: { tenant_id: number; reservation_id: string; bytes: number; expires_at: number }
}

const upsertBlob = statement<
  StorageTables,
  { tenantId: number; hash: string; size: number },
  { uses: number }
>((tables, value) =>
  tables
    .insertInto('blobs')
    .values({ tenant_id: value('tenantId'), blob_hash: value('hash'), size: value('size'), uses: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'blob_hash'])
        .doUpdateSet((set) => ({ uses: set('blobs.uses', '+', 1) })),
    )
    .returning('uses'),
)

const dropUse = statement<StorageTables, { tenantId: number; hash: string }, { uses: number; size: number }>(
  (tables, value) =>
    tables
      .updateTable('blobs')
      .set((set) => ({ uses: set('uses', '-', 1) }))
      .where('tenant_id', '=', value('tenantId'))
      .where('blob_hash', '=', value('hash'))
      .returning(['uses', 'size']),
)

const addUsage = statement<StorageTables, { tenantId: number; bytes: number; files: number }, never>(
  (tables, value) =>
    tables
      .insertInto('storage_usage')
      .values({ tenant_id: value('tenantId'), used_bytes: value('bytes'), files: value('files') })
      .onConflict((conflict) =>
        conflict.column('tenant_id').doUpdateSet((set) => ({
          used_bytes: set('storage_usage.used_bytes', '+', set.ref('excluded.used_bytes')),
          files: set('storage_usage.files', '+', set.ref('excluded.files')),
        })),
      ) as never,
)

export interface Usage {
  readonly usedBytes: number
  readonly files: number
}

export async function findUsage(reader: Reader): Promise<Usage> {
  const row = await reader
    .tables<StorageTables>()
    .selectFrom('storage_usage')
    .select(['used_bytes', 'files'])
    .where('tenant_id', '=', reader.tenantId)
    .executeTakeFirst()
  return { usedBytes: row?.used_bytes ?? 0, files: row?.files ?? 0 }
}

/** Counts one more use of a blob; bytes that the tenant did not have yet count against its quota. */
export async function useBlob(tx: Writer, blob: { hash: BlobHash; size: number }): Promise<void> {
  const { tenantId } = tx
  const row = await tx.first(upsertBlob, { tenantId, ...blob })
  if (row?.uses === 1) await tx.change(addUsage, { tenantId, bytes: blob.size, files: 0 })
}

/** Counts one use less. True when it was the last: the bytes may go. */
export async function releaseBlob(tx: Writer, hash: BlobHash): Promise<boolean> {
  const { tenantId } = tx
  const row = await tx.first(dropUse, { tenantId, hash })
  if (row?.uses !== 0) return false
  await tx
    .tables<StorageTables>()
    .deleteFrom('blobs')
    .where('tenant_id', '=', tenantId)
    .where('blob_hash', '=', hash)
    .execute()
  await tx.change(addUsage, { tenantId, bytes: -row.size, files: 0 })
  return true
}

export async function countFile(tx: Writer, change: 1 | -1): Promise<void> {
  await tx.change(addUsage, { tenantId: tx.tenantId, bytes: 0, files: change })
}

/** Bytes promised to uploads that are under way. */
export async function sumReserved(reader: Reader, nowSecs: number): Promise<number> {
  const row = await reader
    .tables<StorageTables>()
    .selectFrom('storage_reservations')
    .select((select) => select.fn.sum<number | null>('bytes').as('bytes'))
    .where('tenant_id', '=', reader.tenantId)
    .where('expires_at', '>', nowSecs)
    .executeTakeFirst()
  return Number(row?.bytes ?? 0)
}

export async function insertReservation(
  tx: Writer,
  reservation: { id: string; bytes: number; expiresAt: number },
): Promise<void> {
  await tx
    .tables<StorageTables>()
    .insertInto('storage_reservations')
    .values({
      tenant_id: tx.tenantId,
      reservation_id: reservation.id,
      bytes: reservation.bytes,
      expires_at: reservation.expiresAt,
    })
    .execute()
}

export async function deleteReservation(tx: Writer, id: string): Promise<void> {
  await tx
    .tables<StorageTables>()
    .deleteFrom('storage_reservations')
    .where('tenant_id', '=', tx.tenantId)
    .where('reservation_id', '=', id)
    .execute()
}

/** Reservations of uploads that died with their process. */
export async function deleteExpiredReservations(tx: Writer, nowSecs: number): Promise<void> {
  await tx
    .tables<StorageTables>()
    .deleteFrom('storage_reservations')
    .where('tenant_id', '=', tx.tenantId)
    .where('expires_at', '<=', nowSecs)
    .execute()
}
