import type { BlobHash } from '#infra/blobs/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { StorageTables } from './storage-store.ts'

export interface ReservationTables extends Pick<StorageTables, 'blobs'> {
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

/** Bytes promised to uploads under way. */
export async function sumReserved(reader: Reader, now: number): Promise<number> {
  const row = await reader
    .tables<ReservationTables>()
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
    .tables<ReservationTables>()
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
    .tables<ReservationTables>()
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
    .tables<ReservationTables>()
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
    .tables<ReservationTables>()
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
  const tables = tx.tables<ReservationTables>()
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
