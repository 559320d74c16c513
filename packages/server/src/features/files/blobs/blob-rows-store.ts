import type { BlobHash } from '#infra/blobs/index.ts'
import type { Reader } from '#infra/db/index.ts'
import type { ReservationTables } from '../upload/reservation-store.ts'
import type { SizedBlob } from '../upload/storage-store.ts'

/** The blobs that the reader's tenant counts, in the order of their hashes; those that are being taken away are left
 * out. `onlyUsed`: those that a file, a variant or an app still needs; what is deleted for good waits without use for a
 * while. */
export async function listBlobRows(
  reader: Reader,
  {
    after = '',
    limit,
    onlyUsed = false,
  }: { readonly after?: string | undefined; readonly limit: number; readonly onlyUsed?: boolean },
): Promise<SizedBlob[]> {
  const rows = await reader
    .tables<ReservationTables>()
    .selectFrom('blobs')
    .select(['blob_hash', 'size'])
    .where('tenant_id', '=', reader.tenantId)
    .where('blob_hash', '>', after)
    .where((row) => (onlyUsed ? row('uses', '>', 0) : row('is_leaving', '=', 0)))
    .orderBy('blob_hash')
    .limit(limit)
    .execute()
  return rows.map(({ blob_hash, size }) => ({ hash: blob_hash as BlobHash, size }))
}

/** Does the reader's tenant count this blob, and is it to stay? */
export async function isCounted(reader: Reader, hash: BlobHash): Promise<boolean> {
  const row = await reader
    .tables<ReservationTables>()
    .selectFrom('blobs')
    .select('blob_hash')
    .where('tenant_id', '=', reader.tenantId)
    .where('blob_hash', '=', hash)
    .where('is_leaving', '=', 0)
    .executeTakeFirst()
  return row !== undefined
}

/** Those of the hashes that the reader's tenant counts or is about to use. */
export async function findKnownBlobs(reader: Reader, hashes: readonly BlobHash[]): Promise<Set<string>> {
  if (hashes.length === 0) return new Set()
  const tables = reader.tables<ReservationTables>()
  const counted = tables
    .selectFrom('blobs')
    .select('blob_hash')
    .where('tenant_id', '=', reader.tenantId)
    .where('blob_hash', 'in', hashes)
  const claimed = tables
    .selectFrom('blob_claims')
    .select('blob_hash')
    .where('tenant_id', '=', reader.tenantId)
    .where('blob_hash', 'in', hashes)
  const rows = await Promise.all([counted.execute(), claimed.execute()])
  return new Set(rows.flat().map(({ blob_hash }) => blob_hash))
}
