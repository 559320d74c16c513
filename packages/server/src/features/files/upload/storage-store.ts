import type { BlobHash } from '#infra/blobs/index.ts'
import { type Reader, statement, type Writer } from '#infra/db/index.ts'

export interface StorageTables {
  blobs: {
    tenant_id: number
    blob_hash: string
    size: number
    uses: number
    unused_since: number | null
    is_leaving: number
  }
  storage_usage: { tenant_id: number; used_bytes: number; files: number }
  storage_reservations: {
    tenant_id: number
    reservation_id: string
    bytes: number
    expires_at: number
    creator_tag: string | null
    /** The process whose upload it is; null where it outlives processes. */
    holder: string | null
  }
  blob_claims: { tenant_id: number; blob_hash: string; reservation_id: string }
}

export interface SizedBlob {
  readonly hash: BlobHash
  readonly size: number
}

const upsertBlob = statement<
  StorageTables,
  { tenantId: number; hash: string; size: number },
  { uses: number }
>((tables, value) =>
  tables
    .insertInto('blobs')
    .values({
      tenant_id: value('tenantId'),
      blob_hash: value('hash'),
      size: value('size'),
      uses: 1,
      unused_since: null,
      is_leaving: 0,
    })
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'blob_hash']).doUpdateSet((set) => ({
        uses: set('blobs.uses', '+', 1),
        unused_since: null,
        // One that a dead upload left was not measured.
        size: set.ref('excluded.size'),
      })),
    )
    .returning('uses'),
)

const addUsage = statement<StorageTables, { tenantId: number; bytes: number; files: number }, unknown>(
  (tables, value) =>
    tables
      .insertInto('storage_usage')
      .values({ tenant_id: value('tenantId'), used_bytes: value('bytes'), files: value('files') })
      .onConflict((conflict) =>
        conflict.column('tenant_id').doUpdateSet((set) => ({
          used_bytes: set('storage_usage.used_bytes', '+', set.ref('excluded.used_bytes')),
          files: set('storage_usage.files', '+', set.ref('excluded.files')),
        })),
      ),
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

/** Counts one more use of a blob for each row that names it; bytes that the tenant did not use yet count against its
 * quota. */
export async function useBlobs(tx: Writer, blobs: readonly SizedBlob[]): Promise<void> {
  const { tenantId } = tx
  for (const { hash, size } of blobs) {
    const row = await tx.first(upsertBlob, { tenantId, hash, size })
    if (row?.uses === 1) await tx.change(addUsage, { tenantId, bytes: size, files: 0 })
  }
}

/** Takes bytes that nothing uses any more off the usage. */
export async function countUnused(tx: Writer, bytes: number): Promise<void> {
  if (bytes > 0) await countBytes(tx, -bytes)
}

/** Adds to the usage, or takes off it. */
export async function countBytes(tx: Writer, bytes: number): Promise<void> {
  await tx.change(addUsage, { tenantId: tx.tenantId, bytes, files: 0 })
}

export async function countFiles(tx: Writer, change: number): Promise<void> {
  await tx.change(addUsage, { tenantId: tx.tenantId, bytes: 0, files: change })
}

/** Bytes promised to uploads under way. */
export async function sumReserved(reader: Reader, now: number): Promise<number> {
  const row = await reader
    .tables<StorageTables>()
    .selectFrom('storage_reservations')
    .select((select) => select.fn.sum<number | string | null>('bytes').as('bytes'))
    .where('tenant_id', '=', reader.tenantId)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return Number(row?.bytes ?? 0)
}

/** Those that a visitor has been promised. */
export async function sumReservedBy(
  reader: Reader,
  { by, now }: { readonly by: string; readonly now: number },
): Promise<number> {
  const row = await reader
    .tables<StorageTables>()
    .selectFrom('storage_reservations')
    .select((select) => select.fn.sum<number | string | null>('bytes').as('bytes'))
    .where('tenant_id', '=', reader.tenantId)
    .where('creator_tag', '=', by)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return Number(row?.bytes ?? 0)
}

interface ReservationRow {
  readonly id: string
  readonly bytes: number
  readonly expiresAt: number
}

export async function insertReservation(
  tx: Writer,
  reservation: ReservationRow & { readonly by?: string | undefined; readonly holder?: string | undefined },
): Promise<void> {
  await tx
    .tables<StorageTables>()
    .insertInto('storage_reservations')
    .values({
      tenant_id: tx.tenantId,
      reservation_id: reservation.id,
      bytes: reservation.bytes,
      expires_at: reservation.expiresAt,
      creator_tag: reservation.by ?? null,
      holder: reservation.holder ?? null,
    })
    .execute()
}

/** False when there is no such reservation any more, or one that is to last longer has ended. */
export async function updateReservation(
  tx: Writer,
  { id, bytes, lasting }: UpdatedReservation,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .tables<StorageTables>()
    .updateTable('storage_reservations')
    .set(lasting ? { bytes, expires_at: lasting.expiresAt } : { bytes })
    .where('tenant_id', '=', tx.tenantId)
    .where('reservation_id', '=', id)
    .$if(lasting !== undefined, (query) => query.where('expires_at', '>', lasting?.now ?? 0))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

interface UpdatedReservation {
  readonly id: string
  readonly bytes: number
  /** When it ends from now on; as before when absent. */
  readonly lasting?: { readonly expiresAt: number; readonly now: number }
}

/** With the claims made under it. False when there is no such reservation any more. */
export async function deleteReservation(tx: Writer, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .tables<StorageTables>()
    .deleteFrom('storage_reservations')
    .where('tenant_id', '=', tx.tenantId)
    .where('reservation_id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Announces that blobs are about to be used, so that nobody takes them away. False, and nothing is announced, when
 * one of them is just being taken away. */
export async function insertClaims(tx: Writer, id: string, hashes: readonly BlobHash[]): Promise<boolean> {
  if (hashes.length === 0) return true
  const tables = tx.tables<StorageTables>()
  const leaving = await tables
    .selectFrom('blobs')
    .select('blob_hash')
    .where('tenant_id', '=', tx.tenantId)
    .where('blob_hash', 'in', hashes)
    .where('is_leaving', '=', 1)
    .executeTakeFirst()
  if (leaving) return false
  await tables
    .insertInto('blob_claims')
    .values(hashes.map((hash) => ({ tenant_id: tx.tenantId, blob_hash: hash, reservation_id: id })))
    // A process may have died after it claimed them the first time.
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return true
}
