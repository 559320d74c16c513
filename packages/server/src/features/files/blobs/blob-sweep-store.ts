import type { BlobHash } from '#infra/blobs/index.ts'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
import type { FileTables } from '../file-store.ts'
import type { ReservationTables } from '../upload/reservation-store.ts'
import type { SizedBlob, StorageTables } from '../upload/storage-store.ts'

type SweepTables = StorageTables & ReservationTables & FileTables

/** NOTE: over all tenants: those with bytes that nothing has used since before `latest`, or that are on their way out. */
export async function listTenantsWithUnused(reader: Reader, latest: number): Promise<TenantId[]> {
  const rows = await reader
    .tables<SweepTables>()
    .selectFrom('blobs')
    .select('tenant_id')
    .distinct()
    .where('unused_since', 'is not', null)
    .where((row) => row.or([row('unused_since', '<=', latest), row('is_leaving', '=', 1)]))
    .execute()
  return rows.map((row) => row.tenant_id as TenantId)
}

/** NOTE: over all tenants: those that store anything. */
export async function listTenantsWithBlobs(reader: Reader): Promise<TenantId[]> {
  const rows = await reader
    .tables<SweepTables>()
    .selectFrom('storage_usage')
    .select('tenant_id')
    .orderBy('tenant_id')
    .execute()
  return rows.map((row) => row.tenant_id as TenantId)
}

/** Marks unused bytes as leaving, unless somebody is about to use them: from now on nobody may be. */
export async function markLeaving(
  tx: Writer,
  { latest, now, limit }: { readonly latest: number; readonly now: number; readonly limit: number },
): Promise<BlobHash[]> {
  const tables = tx.tables<SweepTables>()
  const chosen = await tables
    .selectFrom('blobs')
    .select('blob_hash')
    .where('tenant_id', '=', tx.tenantId)
    .where('uses', '=', 0)
    .where('unused_since', 'is not', null)
    .where((row) => row.or([row('unused_since', '<=', latest), row('is_leaving', '=', 1)]))
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom('blob_claims')
            .innerJoin('storage_reservations as claimer', (join) =>
              join
                .onRef('claimer.tenant_id', '=', 'blob_claims.tenant_id')
                .onRef('claimer.reservation_id', '=', 'blob_claims.reservation_id'),
            )
            .select('blob_claims.blob_hash')
            .where('blob_claims.tenant_id', '=', tx.tenantId)
            .whereRef('blob_claims.blob_hash', '=', 'blobs.blob_hash')
            .where('claimer.expires_at', '>', now),
        ),
      ),
    )
    .limit(limit)
    .execute()
  const hashes = chosen.map((row) => row.blob_hash)
  if (hashes.length > 0)
    await tables
      .updateTable('blobs')
      .set({ is_leaving: 1 })
      .where('tenant_id', '=', tx.tenantId)
      .where('blob_hash', 'in', hashes)
      .execute()
  return hashes as BlobHash[]
}

/** Forgets bytes that have left. */
export async function deleteLeft(tx: Writer, hashes: readonly BlobHash[]): Promise<void> {
  await tx
    .tables<SweepTables>()
    .deleteFrom('blobs')
    .where('tenant_id', '=', tx.tenantId)
    .where('blob_hash', 'in', hashes)
    .where('is_leaving', '=', 1)
    .execute()
}

/** Which of these bytes no row knows, used or not. */
export async function findUnknown(reader: Reader, blobs: readonly SizedBlob[]): Promise<SizedBlob[]> {
  if (blobs.length === 0) return []
  const rows = await reader
    .tables<SweepTables>()
    .selectFrom('blobs')
    .select('blob_hash')
    .where('tenant_id', '=', reader.tenantId)
    .where(
      'blob_hash',
      'in',
      blobs.map(({ hash }) => hash as string),
    )
    .execute()
  const known = new Set(rows.map((row) => row.blob_hash))
  return blobs.filter(({ hash }) => !known.has(hash))
}

/** Takes up bytes that no row knows as unused, so that they leave like all others. */
export async function adoptUnknown(tx: Writer, blobs: readonly SizedBlob[], now: number): Promise<void> {
  if (blobs.length === 0) return
  await tx
    .tables<SweepTables>()
    .insertInto('blobs')
    .values(
      blobs.map(({ hash, size }) => ({
        tenant_id: tx.tenantId,
        blob_hash: hash,
        size,
        uses: 0,
        unused_since: now,
        is_leaving: 0,
        kind: 'others',
      })),
    )
    .onConflict((conflict) => conflict.columns(['tenant_id', 'blob_hash']).doNothing())
    .execute()
}
