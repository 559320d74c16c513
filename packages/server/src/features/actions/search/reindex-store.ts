import type { ActionId } from '@kith/protocol'
import { sql } from 'kysely'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { StoredAction } from '../action.ts'
import { fromRow, writtenColumns } from '../action-row.ts'
import type { ActionTables, WrittenRow } from '../action-tables.ts'
import { updateShown } from '../lookup-rows-store.ts'
import { deleteSearchText, type Indexed, putSearchText } from './search-index-store.ts'

export interface IndexedAction extends Indexed, Pick<StoredAction, 'actionId'> {
  /** False for deleted actions and for records. */
  readonly isFound: boolean
}

/** The tenant's actions in the order of arrival, for building or removing its search index. */
export async function listIndexedActions(
  reader: Reader,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<IndexedAction[]> {
  const rows = await reader
    .tables<ActionTables>()
    .selectFrom('actions')
    .select([...writtenColumns, 'seq'])
    .where('tenant_id', '=', reader.tenantId)
    .where(sql<number>`seq`, '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute()
  return rows.map(toIndexed)
}

/** Updates the search index and the look-up rows of an action after its members have changed. */
export async function reindexAction(tx: Writer, actionId: ActionId): Promise<void> {
  const row = await tx
    .tables<ActionTables>()
    .selectFrom('actions')
    .select([...writtenColumns, 'seq'])
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', actionId)
    .executeTakeFirst()
  if (!row) return
  const action = toIndexed(row)
  await updateShown(tx, action)
  await deleteSearchText(tx, action)
  if (action.isFound) await putSearchText(tx, action)
}

function toIndexed({ seq, ...row }: WrittenRow & { readonly seq: number }): IndexedAction {
  const isFeedOnly = row.feed_only === 1
  return { ...fromRow(row), isFeedOnly, seq, isFound: row.status !== 'D' && row.status !== 'T' }
}
