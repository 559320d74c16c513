import type { ActionId, FileId, IdTag } from '@kith/protocol'
import { type SqlBool, sql } from 'kysely'
import type { Reader, Writer } from '#infra/db/index.ts'
import { endingSubType } from './action.ts'
import type { ActionTables } from './action-tables.ts'

/** Removes files from the attachments of an action. */
export async function detachFiles(
  tx: Writer,
  { actionId, fileIds }: { readonly actionId: ActionId; readonly fileIds: readonly FileId[] },
): Promise<void> {
  if (fileIds.length === 0) return
  await tx
    .tables<ActionTables>()
    .deleteFrom('action_attachments')
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', 'in', fileIds)
    .where('action_id', '=', actionId)
    .execute()
}

/** Those of these files that no action of the issuer shows to the tenant any more, as an attachment or as a share. */
export async function listUnshown(
  reader: Reader,
  { issuerTag, fileIds }: { readonly issuerTag: IdTag; readonly fileIds: readonly FileId[] },
): Promise<FileId[]> {
  if (fileIds.length === 0) return []
  const tables = reader.tables<ActionTables>()
  const attached = await tables
    .selectFrom('action_attachments as attached')
    .innerJoin('actions as a', (join) =>
      join.onRef('a.tenant_id', '=', 'attached.tenant_id').onRef('a.action_id', '=', 'attached.action_id'),
    )
    .select('attached.file_id')
    .where('attached.tenant_id', '=', reader.tenantId)
    .where('attached.file_id', 'in', fileIds)
    .where('a.issuer_tag', '=', issuerTag)
    .where(sql<SqlBool>`a.status <> 'D'`)
    .execute()
  const shared = await tables
    .selectFrom('actions')
    .select('subject')
    .where('tenant_id', '=', reader.tenantId)
    .where('subject', 'in', fileIds)
    .where(sql<SqlBool>`subject is not null`)
    .where('issuer_tag', '=', issuerTag)
    .where('type', '=', 'FSHR')
    .where('status', '=', 'A')
    .where(sql<SqlBool>`coalesce(sub_type, '') <> ${endingSubType}`)
    .execute()
  const held = new Set([...attached.map((row) => row.file_id), ...shared.map((row) => row.subject)])
  return fileIds.filter((fileId) => !held.has(fileId))
}
