import type { ActionId, FileId, IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { StoredAction } from '../action.ts'
import type { ActionTables } from '../action-tables.ts'
import { reindexAction } from '../search/reindex-store.ts'

/** Notes which attachments of an action still have to be checked. */
export async function markAwaited(tx: Writer, actionId: ActionId, fileIds: readonly FileId[]): Promise<void> {
  await tx
    .tables<ActionTables>()
    .updateTable('action_attachments')
    .set({ awaited: 1 })
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', actionId)
    .where('file_id', 'in', fileIds)
    .execute()
}

/** Ends the wait of the issuer's actions for this file; answers those that waited. */
export async function endAwaiting(
  tx: Writer,
  { fileId, issuerTag }: { readonly fileId: FileId; readonly issuerTag: IdTag },
): Promise<ActionId[]> {
  const rows = await tx
    .tables<ActionTables>()
    .updateTable('action_attachments')
    .set({ awaited: 0 })
    .where('tenant_id', '=', tx.tenantId)
    .where('issuer_tag', '=', issuerTag)
    .where('file_id', '=', fileId)
    .where('awaited', '=', 1)
    .returning('action_id')
    .execute()
  return rows.map((row) => row.action_id as ActionId)
}

export async function isAwaiting(reader: Reader, actionId: ActionId): Promise<boolean> {
  const row = await reader
    .tables<ActionTables>()
    .selectFrom('action_attachments')
    .select(sql`1`.as('one'))
    .where('tenant_id', '=', reader.tenantId)
    .where('action_id', '=', actionId)
    .where('awaited', '=', 1)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Writes the admitted action over its row; its counts stay. */
export async function promoteAction(tx: Writer, action: StoredAction): Promise<void> {
  await tx
    .tables<ActionTables>()
    .updateTable('actions')
    .set({
      status: action.status,
      marked: Number(action.isMarked),
      feed_only: Number(action.isFeedOnly === true),
      within_id: action.withinId ?? null,
      root_id: action.rootId ?? null,
      visibility: action.visibility,
      audience_tag: action.audienceTag ?? null,
    })
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', action.actionId)
    .execute()
  await reindexAction(tx, action.actionId)
}
