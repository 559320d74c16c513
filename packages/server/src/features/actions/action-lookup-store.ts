import type { ActionId, IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import { type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'
import type { StoredAction } from './action.ts'
import { fromRow, rowColumns } from './action-row.ts'
import type { ActionRow, ActionTables } from './action-tables.ts'
import { reindexAction } from './search/reindex-store.ts'

function settleBy(column: 'parent_id' | 'root_id' | 'subject') {
  return statement<
    ActionTables,
    { tenantId: number; actionId: string; visibility: string },
    { action_id: string }
  >((tables, value) =>
    tables
      .updateTable('actions')
      .set({ visibility: value('visibility') })
      .where('tenant_id', '=', value('tenantId'))
      .where(column, '=', value('actionId'))
      .where('within_id', '=', value('actionId'))
      .where('visibility', 'is', null)
      .returning('action_id'),
  )
}
const settle = {
  parent_id: settleBy('parent_id'),
  root_id: settleBy('root_id'),
  subject: settleBy('subject'),
}

/** Comments and reactions may arrive before the action they are about. Those without a visibility take that action's
 * when it arrives. */
export async function settleChildren(tx: Writer, root: StoredAction): Promise<void> {
  if (root.visibility === null) return
  const { actionId, visibility } = root
  for (const column of ['parent_id', 'root_id', 'subject'] as const) {
    const settled = await tx.run(settle[column], { tenantId: tx.tenantId, actionId, visibility })
    for (const row of settled) await reindexAction(tx, row.action_id as ActionId)
  }
}

const listed = 1000
const selectComments = (column: 'parent_id' | 'root_id') =>
  statement<
    ActionTables,
    { tenantId: number; actionId: string; tenantTag: string; limit: number },
    { action_id: string }
  >((tables, value) =>
    tables
      .selectFrom('actions')
      .select('action_id')
      .where('tenant_id', '=', value('tenantId'))
      .where(column, '=', value('actionId'))
      .where(column, 'is not', null)
      .where('type', '=', 'CMNT')
      .where('issuer_tag', '<>', value('tenantTag'))
      .where(sql<boolean>`status in ('A', 'P')`)
      .limit(value('limit')),
  )
const commentsBy = { parent: selectComments('parent_id'), root: selectComments('root_id') }

/** Comments of others on this action that arrived before it; at most 2000. */
export async function listCommentsBefore(
  reader: Reader,
  tenantTag: IdTag,
  actionId: ActionId,
): Promise<ActionId[]> {
  const values = { tenantId: reader.tenantId, actionId, tenantTag, limit: listed }
  const rows = [
    ...(await reader.run(commentsBy.parent, values)),
    ...(await reader.run(commentsBy.root, values)),
  ]
  return [...new Set(rows.map((row) => row.action_id as ActionId))]
}

/** Has its issuer withdrawn this action before it arrived? */
export async function hasTombstone(
  reader: Reader,
  action: Pick<StoredAction, 'actionId' | 'issuerTag' | 'type'>,
): Promise<boolean> {
  return (await findTombstone(reader, action)) !== undefined
}

/** The id of the record by which its issuer withdrew an action. */
export async function findTombstone(
  reader: Reader,
  { actionId, issuerTag, type }: Pick<StoredAction, 'actionId' | 'issuerTag' | 'type'>,
): Promise<ActionId | undefined> {
  const row = await reader.first(selectTombstone, { tenantId: reader.tenantId, actionId, issuerTag, type })
  return row && (row.action_id as ActionId)
}

/** Has this announcer, a community or the owner of a thread, removed this action? */
export async function hasAnnouncedEnd(
  reader: Reader,
  { announcerTag, subject }: { readonly announcerTag: IdTag; readonly subject: ActionId },
): Promise<boolean> {
  const tombstone = { actionId: subject, issuerTag: announcerTag, type: 'ANNC' }
  return (await reader.first(selectTombstone, { tenantId: reader.tenantId, ...tombstone })) !== undefined
}

const selectTombstone = statement<
  ActionTables,
  { tenantId: number; actionId: string; issuerTag: string; type: string },
  { action_id: string }
>((tables, value) =>
  tables
    .selectFrom('actions')
    .select('action_id')
    .where('tenant_id', '=', value('tenantId'))
    .where('subject', '=', value('actionId'))
    .where('subject', 'is not', null)
    .where('issuer_tag', '=', value('issuerTag'))
    .where('type', '=', value('type'))
    .where('sub_type', '=', 'DEL')
    .limit(1),
)

const selectHolders = statement<
  ActionTables,
  { actionId: string },
  { tenant_id: number; issuer_tag: string; unverified: number }
>((tables, value) =>
  tables
    .selectFrom('actions')
    .select(['tenant_id', 'issuer_tag', 'unverified'])
    .where('action_id', '=', value('actionId')),
)

/** NOTE: over all tenants: those of this server that hold an action, and so receive its reactions and its deletion.
 * `isUnverified`: an import has brought it along, so its id and text may be made up. */
export async function listHolders(
  reader: Reader,
  actionId: ActionId,
): Promise<{ tenantId: TenantId; issuerTag: IdTag; isUnverified: boolean }[]> {
  const rows = await reader.run(selectHolders, { actionId })
  return rows.map((row) => ({
    tenantId: row.tenant_id as TenantId,
    issuerTag: row.issuer_tag as IdTag,
    isUnverified: row.unverified === 1,
  }))
}

const selectExpired = statement<ActionTables, { now: number; limit: number }, ActionRow>((tables, value) =>
  tables
    .selectFrom('actions')
    .select(rowColumns)
    .where('expires_at', '<=', value('now'))
    .where('expires_at', 'is not', null)
    .where(sql<boolean>`status in ('A', 'C')`)
    .orderBy('expires_at')
    .limit(value('limit')),
)

/** NOTE: over all tenants: published actions that have expired. */
export async function listExpired(
  reader: Reader,
  now: number,
  limit: number,
): Promise<{ tenantId: TenantId; action: StoredAction }[]> {
  const rows = await reader.run(selectExpired, { now, limit })
  return rows.map((row) => ({ tenantId: row.tenant_id as TenantId, action: fromRow(row) }))
}
