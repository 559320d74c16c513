import { sql } from 'kysely'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
import type { ReservationTables } from './reservation-store.ts'

/** NOTE: over all tenants: the reservations of one process. */
export async function renewLeases(
  tx: Writer,
  { holder, expiresAt }: { readonly holder: string; readonly expiresAt: number },
): Promise<void> {
  await tx
    .tables<ReservationTables>()
    .updateTable('storage_reservations')
    .set({ expires_at: expiresAt })
    .where('holder', '=', holder)
    .execute()
}

interface EndedReservation {
  readonly tenantId: TenantId
  readonly id: string
}

/** NOTE: over all tenants: reservations that nobody has renewed. */
export async function listEndedReservations(
  reader: Reader,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<EndedReservation[]> {
  const rows = await reader
    .tables<ReservationTables>()
    .selectFrom('storage_reservations')
    .select(['tenant_id', 'reservation_id'])
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ tenantId: row.tenant_id as TenantId, id: row.reservation_id }))
}

// What nobody has ever used need not be there for anybody who reads it.
const neverUsed = 0

/** Lets the bytes that were claimed and never used be swept: they may have got their name. */
export async function disownClaimed(tx: Writer, ids: readonly string[]): Promise<void> {
  const tables = tx.tables<ReservationTables>()
  await tables
    .insertInto('blobs')
    .columns(['tenant_id', 'blob_hash', 'size', 'uses', 'unused_since', 'is_leaving'])
    .expression((query) =>
      query
        .selectFrom('blob_claims')
        .select([
          'tenant_id',
          'blob_hash',
          sql<number>`0`.as('size'),
          sql<number>`0`.as('uses'),
          sql<number>`${sql.lit(neverUsed)}`.as('unused_since'),
          sql<number>`0`.as('is_leaving'),
        ])
        .where('tenant_id', '=', tx.tenantId)
        .where('reservation_id', 'in', ids),
    )
    .onConflict((conflict) => conflict.columns(['tenant_id', 'blob_hash']).doNothing())
    .execute()
}

/** NOTE: with their claims. One that was renewed meanwhile stays. */
export async function deleteEnded(tx: Writer, ids: readonly string[], now: number): Promise<void> {
  await tx
    .tables<ReservationTables>()
    .deleteFrom('storage_reservations')
    .where('tenant_id', '=', tx.tenantId)
    .where('reservation_id', 'in', ids)
    .where('expires_at', '<=', now)
    .execute()
}
