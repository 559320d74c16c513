import { type ActionId, type ActionType, actionTypes } from '@kith/protocol'
import { sql } from 'kysely'
import type { Writer } from '#infra/db/index.ts'
import type { ActionTables } from '../action-tables.ts'
import { forgetAnswers } from '../compose/idempotency-store.ts'
import { deleteSaid } from '../lookup-rows-store.ts'
import { deleteSearchText } from '../search/search-index-store.ts'

/** Ends an action, whoever ends it: its text goes, also from the rows that it is looked up by and from answers to
 * repeated requests. The row stays, so that the token is not stored again and older ones with its unique key are kept
 * out. */
export async function eraseAction(tx: Writer, actionId: ActionId): Promise<void> {
  await eraseText(tx, actionId, { token: null, nonce: null })
}

/** The same for an action of the tenant that may still have to be sent after its end (`find-sendable.ts`): its token
 * stays until `sweepSpentTokens`. */
export async function eraseButToken(tx: Writer, actionId: ActionId): Promise<void> {
  await eraseText(tx, actionId, {})
}

const wordy = Object.values<ActionType>(actionTypes).filter(({ subject }) => subject === 'words')

const keptUnlessOf = (types: readonly ActionType[], column: 'subject' | 'sub_type') => {
  const names = sql.join(types.map(({ type }) => sql.lit(type)))
  return sql<string | null>`case when type not in (${names}) then ${sql.ref(column)} end`
}

/** The columns that say what an action says. */
const erased = {
  content: null,
  attachments: null,
  x: null,
  flags: null,
  target_id: null,
  target_hash: null,
  subject: keptUnlessOf(wordy, 'subject'),
  // Where a type has endings, it tells which of an issuer's actions stands.
  sub_type: keptUnlessOf(
    wordy.filter(({ canEnd }) => !canEnd),
    'sub_type',
  ),
}

async function eraseText(
  tx: Writer,
  actionId: ActionId,
  signed: { readonly token?: null; readonly nonce?: null },
): Promise<void> {
  await forgetText(tx, actionId)
  await forgetAnswers(tx, actionId)
  await deleteSaid(tx, actionId)
  await tx
    .tables<ActionTables>()
    .updateTable('actions')
    .set({ status: 'D', marked: 0, ...erased, ...signed })
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', actionId)
    .execute()
}

/** Takes the words of an action out of the search. */
export async function forgetText(tx: Writer, actionId: ActionId): Promise<void> {
  const row = await tx
    .tables<ActionTables>()
    .selectFrom('actions')
    .select(['seq', 'created_at'])
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', actionId)
    .executeTakeFirst()
  if (row) await deleteSearchText(tx, { seq: row.seq, createdAt: row.created_at })
}
