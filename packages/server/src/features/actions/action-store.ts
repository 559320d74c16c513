import type { ActionId, IdTag } from '@kith/protocol'
import { type Insertable, sql } from 'kysely'
import { type Reader, statement, type Writer } from '#infra/db/index.ts'
import type { StoredAction, StoredStatus } from './action.ts'
import { fromRow, rowColumns, toRow, writtenColumns } from './action-row.ts'
import type { ActionRow, ActionTables, WrittenRow } from './action-tables.ts'
import { insertLookups } from './lookup-rows-store.ts'
import { forgetText } from './removal/erase-store.ts'
import { putSearchText } from './search/search-index-store.ts'
import { uniqueKeyOf } from './unique-key.ts'

// The same text as in the indexes: SQLite recognizes a partial index by its text.
const isLiveStatus = sql<boolean>`status in ('A', 'C')`

const insertRow = statement<ActionTables, WrittenRow, { seq: number }>((tables, value) => {
  const values = Object.fromEntries(writtenColumns.map((column) => [column, value(column)]))
  return tables
    .insertInto('actions')
    .values(values as Insertable<ActionTables['actions']>)
    .returning('seq')
})

const selectById = statement<ActionTables, { tenantId: number; actionId: string }, ActionRow>(
  (tables, value) =>
    tables
      .selectFrom('actions')
      .select(rowColumns)
      .where('tenant_id', '=', value('tenantId'))
      .where('action_id', '=', value('actionId')),
)

const selectUnique = statement<
  ActionTables,
  { tenantId: number; issuerTag: string; uniqueKey: string },
  ActionRow
>((tables, value) =>
  tables
    .selectFrom('actions')
    .select(rowColumns)
    .where('tenant_id', '=', value('tenantId'))
    .where('issuer_tag', '=', value('issuerTag'))
    .where('unique_key', '=', value('uniqueKey'))
    .where('unique_key', 'is not', null)
    .where(isLiveStatus),
)

const selectNewest = statement<
  ActionTables,
  { tenantId: number; issuerTag: string; uniqueKey: string },
  Pick<ActionRow, 'action_id' | 'issued_at' | 'created_at' | 'sub_type'>
>((tables, value) =>
  tables
    .selectFrom('actions')
    .select(['action_id', 'issued_at', 'created_at', 'sub_type'])
    .where('tenant_id', '=', value('tenantId'))
    .where('issuer_tag', '=', value('issuerTag'))
    .where('unique_key', '=', value('uniqueKey'))
    .where('unique_key', 'is not', null)
    .orderBy('issued_at', 'desc')
    .orderBy(sql`case when sub_type = 'DEL' then 1 else 0 end`, 'desc')
    .orderBy('action_id', 'desc')
    .limit(1),
)

const updateStatus = statement<ActionTables, { tenantId: number; actionId: string; status: string }, unknown>(
  (tables, value) =>
    tables
      .updateTable('actions')
      .set({ status: value('status'), marked: 0 })
      .where('tenant_id', '=', value('tenantId'))
      .where('action_id', '=', value('actionId')),
)

/** Stores an action with the rows it is looked up by: its audience, attachments, tags and words. */
export async function insertAction(tx: Writer, action: StoredAction): Promise<void> {
  const [inserted] = await tx.run(insertRow, toRow(tx.tenantId, action))
  if (inserted && action.status !== 'D' && action.status !== 'T')
    await putSearchText(tx, { ...action, seq: inserted.seq })
  await insertLookups(tx, action)
}

/** Stores a token that is no action: the tenant's own while it is sent, or one that the tenant passes on or must
 * remember. */
export async function insertRecord(
  tx: Writer,
  record: {
    readonly actionId: ActionId
    readonly issuerTag: IdTag
    readonly type: string
    readonly subType?: string | undefined
    readonly subject: string
    readonly issuedAt: number
    /** For counts: when their receivers were told, Unix seconds. */
    readonly toldAt?: number | undefined
    readonly token: string
    readonly isUnverified?: boolean
  },
): Promise<void> {
  const empty = Object.fromEntries(rowColumns.map((column) => [column, null])) as Record<
    keyof ActionRow,
    null
  >
  await tx.run(insertRow, {
    ...empty,
    tenant_id: tx.tenantId,
    action_id: record.actionId,
    type: record.type,
    sub_type: record.subType ?? null,
    issuer_tag: record.issuerTag,
    subject: record.subject,
    status: 'T',
    marked: 0,
    feed_only: 0,
    created_at: record.issuedAt,
    issued_at: record.issuedAt,
    published_at: record.toldAt ?? null,
    token: record.token,
    unverified: Number(record.isUnverified === true),
    mismatched: 0,
  })
}

/** Replaces the member `x` of an action. */
export async function setExtra(
  tx: Writer,
  actionId: ActionId,
  x: Readonly<Record<string, unknown>>,
): Promise<void> {
  await tx
    .tables<ActionTables>()
    .updateTable('actions')
    .set({ x: JSON.stringify(x) })
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', actionId)
    .execute()
}

/** Any action that the tenant holds, deleted ones included. It does not check who may see the action. */
export async function findStoredAction(
  reader: Reader,
  actionId: ActionId,
): Promise<StoredAction | undefined> {
  const row = await reader.first(selectById, { tenantId: reader.tenantId, actionId })
  return row && fromRow(row)
}

/** The issuer's live action that this one replaces: the one with the same unique key. */
export async function findSuperseded(
  reader: Reader,
  action: Pick<StoredAction, 'type' | 'issuerTag' | 'audienceTag' | 'subject'>,
): Promise<StoredAction | undefined> {
  const uniqueKey = uniqueKeyOf(action)
  if (uniqueKey === undefined) return undefined
  const { issuerTag } = action
  const row = await reader.first(selectUnique, { tenantId: reader.tenantId, issuerTag, uniqueKey })
  return row && fromRow(row)
}

/** The issuer's last action with the same unique key, live or ended. */
export async function findNewest(
  reader: Reader,
  action: Pick<StoredAction, 'type' | 'issuerTag' | 'audienceTag' | 'subject'>,
): Promise<Pick<StoredAction, 'actionId' | 'issuedAt' | 'createdAt' | 'subType'> | undefined> {
  const uniqueKey = uniqueKeyOf(action)
  if (uniqueKey === undefined) return undefined
  const { issuerTag } = action
  const row = await reader.first(selectNewest, { tenantId: reader.tenantId, issuerTag, uniqueKey })
  return (
    row && {
      actionId: row.action_id as ActionId,
      issuedAt: row.issued_at,
      createdAt: row.created_at,
      subType: row.sub_type ?? undefined,
    }
  )
}

/** Another action replaces this one before it was sent: its token will never leave, and the other has its unique
 * key. */
export async function supersedeAction(tx: Writer, actionId: ActionId): Promise<void> {
  await tx
    .tables<ActionTables>()
    .updateTable('actions')
    .set({ token: null, unique_key: null })
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', actionId)
    .execute()
}

/** Has the issuer signed another action with the same unique key before this one? */
export async function hasPredecessor(reader: Reader, action: StoredAction): Promise<boolean> {
  const uniqueKey = uniqueKeyOf(action)
  if (uniqueKey === undefined) return false
  const row = await reader
    .tables<ActionTables>()
    .selectFrom('actions')
    .select('action_id')
    .where('tenant_id', '=', reader.tenantId)
    .where('issuer_tag', '=', action.issuerTag)
    .where('unique_key', '=', uniqueKey)
    .where('unique_key', 'is not', null)
    .where('issued_at', '<=', action.issuedAt)
    .where('action_id', '!=', action.actionId)
    // Drafts were never signed.
    .where('issued_at', '>', 0)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Moves an action to another status and removes its mark. What ends goes by `eraseAction`. */
export async function setStatus(
  tx: Writer,
  actionId: ActionId,
  status: Exclude<StoredStatus, 'D'>,
): Promise<void> {
  await tx.change(updateStatus, { tenantId: tx.tenantId, actionId, status })
}

/** Ends a draft that cannot be published. It keeps its text, which nobody has deleted, and the reason in `x`. */
export async function endRefusedDraft(
  tx: Writer,
  actionId: ActionId,
  x: Readonly<Record<string, unknown>>,
): Promise<void> {
  await tx.change(updateStatus, { tenantId: tx.tenantId, actionId, status: 'D' })
  await setExtra(tx, actionId, x)
}

/** Writes an action over its existing row, for instance when a draft is published. */
export async function replaceAction(tx: Writer, action: StoredAction): Promise<void> {
  await deleteAction(tx, action.actionId)
  await insertAction(tx, action)
}

/** Removes an action with all its rows: nothing shows that it was here. */
export async function deleteAction(tx: Writer, actionId: ActionId): Promise<void> {
  const tables = tx.tables<ActionTables>()
  await forgetText(tx, actionId)
  for (const table of ['actions', 'action_recipients', 'action_attachments', 'action_tags'] as const)
    await tables
      .deleteFrom(table)
      .where('tenant_id', '=', tx.tenantId)
      .where('action_id', '=', actionId)
      .execute()
}

/** Removes the mark of a notification. */
export async function clearMark(tx: Writer, actionId: ActionId): Promise<void> {
  await tx
    .tables<ActionTables>()
    .updateTable('actions')
    .set({ marked: 0 })
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', actionId)
    .execute()
}
