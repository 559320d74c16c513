import type { ActionId } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import type { ActionTables } from '../action-tables.ts'
import { reindexAction } from '../search/reindex-store.ts'

/** Lets lists show an action to visitors of the tenant. */
export async function putOnPage(tx: Writer, actionId: ActionId): Promise<void> {
  await tx
    .tables<ActionTables>()
    .updateTable('actions')
    .set({ feed_only: 0 })
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', actionId)
    .execute()
  await reindexAction(tx, actionId)
}
