import { type SqlBool, sql } from 'kysely'
import { type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'
import type { StoredAction } from '../action.ts'
import { fromRow, rowColumns } from '../action-row.ts'
import type { ActionRow, ActionTables } from '../action-tables.ts'

// The same text as in the indexes of `actions-migrations.ts`.
export const isOver = "status in ('D', 'T')"
export const isRequest = "status = 'C'"
/** An ended action whose token was kept, because it may still have to be sent. */
export const isTokenLeft = "status = 'D' and token is not null"
/** The time from which the sweep counts the age of a deleted row. */
export const keptSince =
  'coalesce(kept_since, case when issued_at > created_at then issued_at else created_at end)'

interface SweepTables {
  actions: ActionTables['actions'] & { kept_since: number | null }
  action_recipients: { tenant_id: number; action_id: string }
  action_attachments: { tenant_id: number; action_id: string }
  action_tags: { tenant_id: number; action_id: string }
  action_views: { tenant_id: number; action_id: string }
  action_reads: { tenant_id: number; action_id: string }
  comment_reads: { tenant_id: number; comment_id: string }
}

/** The row of a deleted action, or of the record of a deletion. */
interface DeletedRow {
  readonly tenantId: TenantId
  readonly actionId: string
  /** Has the sweep met this row before? */
  readonly isKnown: boolean
  /** Does an action that is not deleted refer to it? */
  readonly isNeeded: boolean
}

interface DeletedRowColumns {
  tenant_id: number
  action_id: string
  kept_since: number | null
  is_needed: number | boolean
}

// NOTE: for an `exists` PostgreSQL may read all actions of all tenants; with a limit it uses the index.
const isReferredTo = sql<boolean>`(${sql.join(
  (['parent_id', 'root_id', 'subject'] as const).map(
    (column) => sql`(select 1 from actions as other where other.tenant_id = actions.tenant_id
      and other.${sql.ref(column)} = actions.action_id and other.status not in ('D', 'T') limit 1) is not null`,
  ),
  sql` or `,
)})`

const selectDeletedRows = statement<SweepTables, { upTo: number; limit: number }, DeletedRowColumns>(
  (tables, value) =>
    tables
      .selectFrom('actions')
      .select(['tenant_id', 'action_id', 'kept_since', isReferredTo.as('is_needed')])
      .where(sql.raw<SqlBool>(isOver))
      .where(sql<SqlBool>`${sql.raw(keptSince)} <= ${value('upTo')}`)
      .orderBy(sql.raw(keptSince))
      .limit(value('limit')),
)

/** NOTE: over all tenants, the oldest first. */
export async function listDeletedRows(
  reader: Reader,
  query: { readonly upTo: number; readonly limit: number },
): Promise<DeletedRow[]> {
  const rows = await reader.run(selectDeletedRows, query)
  return rows.map((row) => ({
    tenantId: row.tenant_id as TenantId,
    actionId: row.action_id,
    isKnown: row.kept_since !== null,
    isNeeded: Boolean(row.is_needed),
  }))
}

/** The sweep counts the age of this row from `since` on. */
export async function keepDeletedRows(tx: Writer, actionId: string, since: number): Promise<void> {
  await tx
    .tables<SweepTables>()
    .updateTable('actions')
    .set({ kept_since: since })
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', actionId)
    .execute()
}

const companions = [
  ['action_recipients', 'action_id'],
  ['action_attachments', 'action_id'],
  ['action_tags', 'action_id'],
  ['action_views', 'action_id'],
  ['action_reads', 'action_id'],
  ['comment_reads', 'comment_id'],
  ['actions', 'action_id'],
] as const
const deletions = companions.map(([table, column]) =>
  statement<Record<string, Record<string, unknown>>, { tenantId: number; actionId: string }, unknown>(
    (tables, value) =>
      tables
        .deleteFrom(table)
        .where('tenant_id', '=', value('tenantId'))
        .where(column, '=', value('actionId')),
  ),
)

/** Removes the last rows of an action. Its words must have left the search index before. */
export async function purgeDeletedRows(tx: Writer, actionId: string): Promise<void> {
  for (const deletion of deletions) await tx.change(deletion, { tenantId: tx.tenantId, actionId })
}

const clearTokens = statement<SweepTables, { upTo: number; limit: number }, unknown>((tables, value) =>
  tables
    .updateTable('actions')
    .set({ token: null, nonce: null })
    .where(
      sql<SqlBool>`seq in (select seq from actions where ${sql.raw(isTokenLeft)}
        and issued_at <= ${value('upTo')} order by issued_at limit ${value('limit')})`,
    ),
)

/** NOTE: over all tenants: forgets some tokens of ended actions that were signed by then; answers how many. */
export async function clearSpentTokens(
  tx: Writer,
  portion: { readonly upTo: number; readonly limit: number },
): Promise<number> {
  return tx.change(clearTokens, portion)
}

const selectUnanswered = statement<ActionTables, { upTo: number; limit: number }, ActionRow>(
  (tables, value) =>
    tables
      .selectFrom('actions')
      .select(rowColumns)
      .where(sql.raw<SqlBool>(isRequest))
      .where('issued_at', '<=', value('upTo'))
      .orderBy('issued_at')
      .limit(value('limit')),
)

/** NOTE: over all tenants: requests that nobody has answered. */
export async function listUnanswered(
  reader: Reader,
  query: { readonly upTo: number; readonly limit: number },
): Promise<{ tenantId: TenantId; action: StoredAction }[]> {
  const rows = await reader.run(selectUnanswered, query)
  return rows.map((row) => ({ tenantId: row.tenant_id as TenantId, action: fromRow(row) }))
}
