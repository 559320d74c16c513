import type { FileId, IdTag } from '@kith/protocol'
import type { Selectable } from 'kysely'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
import type { ResumableUpload } from './upload.ts'

interface UploadTables {
  uploads: {
    tenant_id: number
    upload_id: string
    creator_tag: string
    length: number
    metadata: string
    reservation_id: string
    upload_offset: number
    expires_at: number
    file_id: string | null
  }
}

export async function insertUpload(tx: Writer, upload: ResumableUpload): Promise<void> {
  await tx
    .tables<UploadTables>()
    .insertInto('uploads')
    .values({
      tenant_id: tx.tenantId,
      upload_id: upload.uploadId,
      creator_tag: upload.creator,
      length: upload.length,
      metadata: upload.metadata,
      reservation_id: upload.reservationId,
      upload_offset: upload.offset,
      expires_at: upload.expiresAt,
      file_id: upload.fileId ?? null,
    })
    .execute()
}

interface UploadKey {
  readonly uploadId: string
  readonly creator: string
  /** Unix seconds. */
  readonly now: number
}

export async function findUpload(
  reader: Reader,
  { uploadId, creator, now }: UploadKey,
): Promise<ResumableUpload | undefined> {
  const row = await reader
    .tables<UploadTables>()
    .selectFrom('uploads')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where('upload_id', '=', uploadId)
    .where('creator_tag', '=', creator)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return row && uploadOf(row)
}

/** Uploads under way, those that one has begun or all. */
export async function countUnfinished(
  reader: Reader,
  { by, now }: { readonly by?: string; readonly now: number },
): Promise<number> {
  const row = await reader
    .tables<UploadTables>()
    .selectFrom('uploads')
    .select((select) => select.fn.countAll<number | string>().as('count'))
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', 'is', null)
    .where('expires_at', '>', now)
    .$if(by !== undefined, (query) => query.where('creator_tag', '=', by ?? ''))
    .executeTakeFirst()
  return Number(row?.count ?? 0)
}

/** A step of an upload. It is taken only from where the upload was found: of two processes that append, one goes on. */
interface UploadStep {
  readonly uploadId: string
  readonly from: number
  readonly to: number
  readonly expiresAt: number
  readonly fileId?: FileId
}

/** False when the upload is elsewhere by now, finished or gone. */
export async function moveUpload(tx: Writer, step: UploadStep): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .tables<UploadTables>()
    .updateTable('uploads')
    .set({ upload_offset: step.to, expires_at: step.expiresAt, file_id: step.fileId ?? null })
    .where('tenant_id', '=', tx.tenantId)
    .where('upload_id', '=', step.uploadId)
    .where('upload_offset', '=', step.from)
    .where('file_id', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function deleteUpload(tx: Writer, uploadId: string): Promise<void> {
  await tx
    .tables<UploadTables>()
    .deleteFrom('uploads')
    .where('tenant_id', '=', tx.tenantId)
    .where('upload_id', '=', uploadId)
    .execute()
}

/** NOTE: over all tenants: those with uploads that ended before now. */
export async function listTenantsWithExpired(reader: Reader, now: number): Promise<TenantId[]> {
  const rows = await reader
    .tables<UploadTables>()
    .selectFrom('uploads')
    .select('tenant_id')
    .distinct()
    .where('expires_at', '<=', now)
    .execute()
  return rows.map((row) => row.tenant_id as TenantId)
}

/** NOTE: over all tenants: those with uploads under way. */
export async function listTenantsWithUnfinished(reader: Reader): Promise<TenantId[]> {
  const rows = await reader
    .tables<UploadTables>()
    .selectFrom('uploads')
    .select('tenant_id')
    .distinct()
    .where('file_id', 'is', null)
    .execute()
  return rows.map((row) => row.tenant_id as TenantId)
}

/** Uploads under way that others than the tenant have begun; their number is bounded. */
export async function listUnfinishedOfOthers(reader: Reader, tenantTag: IdTag): Promise<ResumableUpload[]> {
  const rows = await reader
    .tables<UploadTables>()
    .selectFrom('uploads')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', 'is', null)
    .where('creator_tag', '<>', tenantTag)
    .execute()
  return rows.map(uploadOf)
}

export async function listExpiredUploads(
  reader: Reader,
  now: number,
  limit: number,
): Promise<ResumableUpload[]> {
  const rows = await reader
    .tables<UploadTables>()
    .selectFrom('uploads')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .execute()
  return rows.map(uploadOf)
}

function uploadOf(row: Selectable<UploadTables['uploads']>): ResumableUpload {
  return {
    uploadId: row.upload_id,
    creator: row.creator_tag,
    length: row.length,
    metadata: row.metadata,
    reservationId: row.reservation_id,
    offset: row.upload_offset,
    expiresAt: row.expires_at,
    fileId: (row.file_id ?? undefined) as FileId | undefined,
  }
}
