import type { FileId, IdTag } from '@kith/protocol'
import { type SqlBool, sql } from 'kysely'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
import type { AccessTables } from './file-access-predicate.ts'
import type { FileTables } from './file-store.ts'

/** Changes when a copy of an owner's file ends. One that came with an action stays as long as that. */
export async function updateCopyEnd(
  tx: Writer,
  copy: { readonly fileId: FileId; readonly ownerTag: IdTag; readonly expiresAt: number | undefined },
): Promise<void> {
  await tx
    .tables<AccessTables>()
    .updateTable('files')
    .set({ expires_at: copy.expiresAt ?? null })
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', copy.fileId)
    .where('owner_tag', '=', copy.ownerTag)
    .where('is_copy', '=', 1)
    .where(
      sql<SqlBool>`not exists (select 1 from action_attachments as attached
        where attached.tenant_id = files.tenant_id and attached.file_id = files.file_id
        and attached.issuer_tag = files.owner_tag)`,
    )
    .execute()
}

/** NOTE: over all tenants: those with copies that have ended. */
export async function listTenantsWithEnded(reader: Reader, now: number): Promise<TenantId[]> {
  const rows = await reader
    .tables<FileTables>()
    .selectFrom('files')
    .select('tenant_id')
    .distinct()
    .where('expires_at', '<=', now)
    .execute()
  return rows.map((row) => row.tenant_id as TenantId)
}

export async function listEndedCopies(
  reader: Reader,
  now: number,
  limit: number,
): Promise<{ fileId: FileId; ownerTag: IdTag }[]> {
  const rows = await reader
    .tables<FileTables>()
    .selectFrom('files')
    .select(['file_id', 'owner_tag'])
    .where('tenant_id', '=', reader.tenantId)
    .where('expires_at', '<=', now)
    .limit(limit)
    .execute()
  return rows.map((row) => ({ fileId: row.file_id as FileId, ownerTag: row.owner_tag as IdTag }))
}
