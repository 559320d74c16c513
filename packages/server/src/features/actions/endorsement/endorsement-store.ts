import { sql } from 'kysely'
import { statement, type Writer } from '#infra/db/index.ts'
import type { StoredAction } from '../action.ts'
import { hashOfToken } from '../action-id.ts'
import type { ActionTables } from '../action-tables.ts'

const compare = statement<ActionTables, { tenantId: number; targetId: string; held: string }, unknown>(
  (tables, value) =>
    tables
      .updateTable('actions')
      .set({
        mismatched: sql<number>`case when target_hash = ${value('held')} then 0 else 1 end`,
        marked: sql<number>`case when target_hash = ${value('held')} or type = 'MSG' then marked else 0 end`,
        target_id: null,
        target_hash: null,
      })
      .where('tenant_id', '=', value('tenantId'))
      .where('target_id', '=', value('targetId'))
      .where('target_id', 'is not', null),
)

/** Compares this action with what has been said about it before it arrived. */
export async function compareEndorsements(
  tx: Writer,
  { actionId: targetId, token }: Pick<StoredAction, 'actionId' | 'token'>,
): Promise<void> {
  if (token === undefined) return
  await tx.change(compare, { tenantId: tx.tenantId, targetId, held: hashOfToken(token) })
}
