import { type ActionId, type ActionType, actionTypes } from '@kith/protocol'
import { sql } from 'kysely'
import { statement, type Writer } from '#infra/db/index.ts'
import type { StoredAction } from '../action.ts'
import type { ActionTables } from '../action-tables.ts'
import { reindexAction } from '../search/reindex-store.ts'
import { hasInheritedReaders } from './target.ts'
import { hashesOfToken } from './token-hashes.ts'

const inheriting = sql.join(
  Object.values<ActionType>(actionTypes)
    .map(({ type }) => ({ type: type as StoredAction['type'] }))
    .filter(hasInheritedReaders)
    .map(({ type }) => sql.lit(type)),
)

const selectWaiting = statement<ActionTables, { tenantId: number; targetId: string }, { action_id: string }>(
  (tables, value) =>
    tables
      .selectFrom('actions')
      .select('action_id')
      .where('tenant_id', '=', value('tenantId'))
      .where('target_id', '=', value('targetId'))
      .where('target_id', 'is not', null)
      .limit(1),
)

const compare = statement<
  ActionTables,
  { tenantId: number; targetId: string; held: string; twin: string },
  { action_id: string; mismatched: number }
>((tables, value) => {
  const isMeant = sql<boolean>`target_hash in (${value('held')}, ${value('twin')})`
  return tables
    .updateTable('actions')
    .set({
      mismatched: sql<number>`case when ${isMeant} then 0 else 1 end`,
      // As `keptApart` does.
      marked: sql<number>`case when ${isMeant} or type = 'MSG' then marked else 0 end`,
      visibility: sql<string>`case when ${isMeant} or type not in (${inheriting}) then visibility else 'C' end`,
      target_id: null,
      target_hash: null,
    })
    .where('tenant_id', '=', value('tenantId'))
    .where('target_id', '=', value('targetId'))
    .where('target_id', 'is not', null)
    .returning(['action_id', 'mismatched'])
})

/** Compares this action with what has been said about it before it arrived. */
export async function compareEndorsements(
  tx: Writer,
  { actionId: targetId, token }: Pick<StoredAction, 'actionId' | 'token'>,
): Promise<void> {
  if (token === undefined) return
  // The hashes take a while, and about nearly everything that arrives nothing has been said yet.
  if (!(await tx.first(selectWaiting, { tenantId: tx.tenantId, targetId }))) return
  const [held, twin] = hashesOfToken(token)
  const compared = await tx.run(compare, { tenantId: tx.tenantId, targetId, held, twin })
  for (const row of compared) if (row.mismatched === 1) await reindexAction(tx, row.action_id as ActionId)
}
