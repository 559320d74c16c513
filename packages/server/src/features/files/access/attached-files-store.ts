import type { ActionId } from '@kith/protocol'
import { type SqlBool, sql } from 'kysely'
import type { Tenant } from '#infra/caller/index.ts'
import { listedTexts, type Reader } from '#infra/db/index.ts'
import type { StoredFile } from '../file.ts'
import { toFile } from '../file-store.ts'
import { isInTrash } from '../folders/folder-change-predicate.ts'
import { type AccessTables, isShownBy } from './file-access-predicate.ts'

/** The files that these actions show to their readers, in any order: those of their issuers that are here, neither in
 * the trash nor expired. One query, however many actions. `now`: Unix seconds.
 * NOTE: SQLite keeps the order of a cross join; else it looks at all attachments of the tenant. The issuer is the
 * action's, since the index of attachments by action does not have it. */
export async function listAttached(
  reader: Reader,
  query: { readonly tenant: Tenant; readonly actionIds: readonly ActionId[]; readonly now: number },
): Promise<{ readonly actionId: ActionId; readonly file: StoredFile }[]> {
  const { tenant, actionIds, now } = query
  if (actionIds.length === 0) return []
  const rows = await reader
    .tables<AccessTables>()
    .selectFrom(listedTexts(reader.dialect, sql`${JSON.stringify(actionIds)}`).as('asked'))
    .crossJoin('actions')
    .crossJoin('action_attachments as attached')
    .crossJoin('files')
    .selectAll('files')
    .select('attached.action_id')
    .where('actions.tenant_id', '=', reader.tenantId)
    .whereRef('actions.action_id', '=', 'asked.value')
    .whereRef('attached.tenant_id', '=', 'actions.tenant_id')
    .whereRef('attached.action_id', '=', 'actions.action_id')
    .whereRef('files.tenant_id', '=', 'attached.tenant_id')
    .whereRef('files.file_id', '=', 'attached.file_id')
    .where(isShownBy('actions.issuer_tag', 'files', sql`${tenant.idTag}`))
    .where(sql<SqlBool>`(files.expires_at is null or files.expires_at > ${now})`)
    // Copies that were announced and not fetched have no bytes.
    .where(sql<SqlBool>`(files.file_tp <> 'BLOB' or files.blob_hash is not null)`)
    .where((row) => row.not(isInTrash('files', sql`${reader.tenantId}`)))
    .execute()
  return rows.map((row) => ({ actionId: row.action_id as ActionId, file: toFile(row) }))
}
