import type { FileId, IdTag } from '@kith/protocol'
import { type SqlBool, sql } from 'kysely'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
import type { AccessTables } from '../access/file-access-predicate.ts'
import type { FileTables } from '../file-store.ts'

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

export interface EndedCopy {
  readonly tenantId: TenantId
  readonly fileId: FileId
  readonly ownerTag: IdTag
}

/** NOTE: over all tenants: copies that have ended, the earliest first: in the order of the index that holds them alone,
 * since a planner may take any other index for a tenant or for distinct tenants. */
export async function listEndedCopies(reader: Reader, now: number, limit: number): Promise<EndedCopy[]> {
  const rows = await reader
    .tables<FileTables>()
    .selectFrom('files')
    .select(['tenant_id', 'file_id', 'owner_tag'])
    .where('expires_at', 'is not', null)
    .where('expires_at', '<=', now)
    .where('is_copy', '=', 1)
    .orderBy('expires_at')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    tenantId: row.tenant_id as TenantId,
    fileId: row.file_id as FileId,
    ownerTag: row.owner_tag as IdTag,
  }))
}
