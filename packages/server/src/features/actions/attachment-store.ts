import type { ActionId, FileId, IdTag } from '@kith/protocol'
import { type SqlBool, sql } from 'kysely'
import type { Writer } from '#infra/db/index.ts'
import type { ActionTables } from './action-tables.ts'

/** An action has its attachments no more; answers those that its issuer shows the tenant by no other action: neither
 * attached nor shared. */
export async function detachFiles(
  tx: Writer,
  {
    actionId,
    issuerTag,
    fileIds,
  }: { readonly actionId: ActionId; readonly issuerTag: IdTag; readonly fileIds: readonly FileId[] },
): Promise<FileId[]> {
  if (fileIds.length === 0) return []
  const tables = tx.tables<ActionTables>()
  await tables
    .deleteFrom('action_attachments')
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', 'in', fileIds)
    .where('action_id', '=', actionId)
    .execute()
  const attached = await tables
    .selectFrom('action_attachments as attached')
    .innerJoin('actions as a', (join) =>
      join.onRef('a.tenant_id', '=', 'attached.tenant_id').onRef('a.action_id', '=', 'attached.action_id'),
    )
    .select('attached.file_id')
    .where('attached.tenant_id', '=', tx.tenantId)
    .where('attached.file_id', 'in', fileIds)
    .where(sql<SqlBool>`a.status <> 'D'`)
    .execute()
  const shared = await tables
    .selectFrom('actions')
    .select('subject')
    .where('tenant_id', '=', tx.tenantId)
    .where('subject', 'in', fileIds)
    .where(sql<SqlBool>`subject is not null`)
    .where('issuer_tag', '=', issuerTag)
    .where('type', '=', 'FSHR')
    .where('status', '=', 'A')
    .execute()
  const held = new Set([...attached.map((row) => row.file_id), ...shared.map((row) => row.subject)])
  return fileIds.filter((fileId) => !held.has(fileId))
}
