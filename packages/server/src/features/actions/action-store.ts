import type { ActionId, ActionTypeName, FileId, IdTag, Visibility } from '@kith/protocol'
import { type Insertable, sql } from 'kysely'
import { type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'
import type { StoredAction, StoredStatus } from './action.ts'
import type { ActionRow, ActionTables } from './action-tables.ts'
import { deleteSearchText, putSearchText } from './search-store.ts'
import { searchTextOf } from './search-text.ts'
import { tagsOf } from './tags.ts'
import { uniqueKeyOf } from './unique-key.ts'

const rowColumns = [
  'tenant_id',
  'action_id',
  'type',
  'sub_type',
  'issuer_tag',
  'author_tag',
  'audience_tag',
  'audience',
  'parent_id',
  'root_id',
  'within_id',
  'subject',
  'visibility',
  'status',
  'flags',
  'created_at',
  'issued_at',
  'published_at',
  'publish_at',
  'expires_at',
  'unique_key',
  'marked',
  'content',
  'attachments',
  'x',
  'nonce',
  'token',
] as const satisfies readonly (keyof ActionRow)[]

// Word for word as in the indexes: SQLite recognizes a partial index by its text.
const isLiveStatus = sql<boolean>`status in ('A', 'C')`

const insertRow = statement<ActionTables, ActionRow, { seq: number }>((tables, value) => {
  const values = Object.fromEntries(rowColumns.map((column) => [column, value(column)]))
  return tables
    .insertInto('actions')
    .values(values as Insertable<ActionTables['actions']>)
    .returning('seq')
})

function settleBy(column: 'parent_id' | 'root_id' | 'subject') {
  return statement<ActionTables, { tenantId: number; actionId: string; visibility: string }, unknown>(
    (tables, value) =>
      tables
        .updateTable('actions')
        .set({ visibility: value('visibility') })
        .where('tenant_id', '=', value('tenantId'))
        .where(column, '=', value('actionId'))
        .where('within_id', '=', value('actionId'))
        .where('visibility', 'is', null),
  )
}
const settle = {
  parent_id: settleBy('parent_id'),
  root_id: settleBy('root_id'),
  subject: settleBy('subject'),
}

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

const updateStatus = statement<ActionTables, { tenantId: number; actionId: string; status: string }, unknown>(
  (tables, value) =>
    tables
      .updateTable('actions')
      .set({ status: value('status'), marked: 0 })
      .where('tenant_id', '=', value('tenantId'))
      .where('action_id', '=', value('actionId')),
)

/** Stores an action with what is looked up by: its audience, attachments and tags. */
export async function insertAction(tx: Writer, action: StoredAction): Promise<void> {
  const [inserted] = await tx.run(insertRow, toRow(tx.tenantId, action))
  if (inserted && action.status !== 'D' && action.status !== 'T')
    await putSearchText(tx, inserted.seq, searchTextOf(action.content))
  const { actionId, audience, attachments } = action
  const tables = tx.tables<ActionTables>()
  const names = { tenant_id: tx.tenantId, action_id: actionId }
  if (audience.length > 0)
    await tables
      .insertInto('action_recipients')
      .values(audience.map((idTag) => ({ ...names, id_tag: idTag })))
      .execute()
  if (attachments.length > 0)
    await tables
      .insertInto('action_attachments')
      .values(attachments.map((fileId) => ({ ...names, file_id: fileId })))
      .execute()
  const tags = tagsOf(action.content)
  if (tags.length > 0)
    await tables
      .insertInto('action_tags')
      .values(tags.map((tag) => ({ ...names, tag })))
      .execute()
}

/** Keeps a token of the tenant's own that is no action, as long as it is on its way. */
export async function insertRecord(
  tx: Writer,
  record: {
    readonly actionId: ActionId
    readonly issuerTag: IdTag
    readonly type: string
    readonly subject: string
    readonly issuedAt: number
    readonly token: string
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
    issuer_tag: record.issuerTag,
    subject: record.subject,
    status: 'T',
    marked: 0,
    created_at: record.issuedAt,
    issued_at: record.issuedAt,
    token: record.token,
  })
}

/** Comments and reactions may arrive before what they are about: without a visibility of their own they take its. */
export async function settleChildren(tx: Writer, root: StoredAction): Promise<void> {
  if (root.visibility === null) return
  for (const column of ['parent_id', 'root_id', 'subject'] as const)
    await tx.change(settle[column], {
      tenantId: tx.tenantId,
      actionId: root.actionId,
      visibility: root.visibility,
    })
}

/** Replaces the free members of an action. */
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

/** Any action the tenant holds, tombstones included; who may see it is not asked here. */
export async function findStoredAction(
  reader: Reader,
  actionId: ActionId,
): Promise<StoredAction | undefined> {
  const row = await reader.first(selectById, { tenantId: reader.tenantId, actionId })
  return row && fromRow(row)
}

/** The issuer's action that stands where this one would: of those with the same values of the unique members. */
export async function findRival(
  reader: Reader,
  action: Pick<StoredAction, 'type' | 'issuerTag' | 'audienceTag' | 'subject'>,
): Promise<StoredAction | undefined> {
  const uniqueKey = uniqueKeyOf(action)
  if (uniqueKey === undefined) return undefined
  const { issuerTag } = action
  const row = await reader.first(selectUnique, { tenantId: reader.tenantId, issuerTag, uniqueKey })
  return row && fromRow(row)
}

/** Moves an action to another status; a mark on it goes. */
export async function setStatus(tx: Writer, actionId: ActionId, status: StoredStatus): Promise<void> {
  await tx.change(updateStatus, { tenantId: tx.tenantId, actionId, status })
}

/** Writes an action over the row that it has already, as when a draft is published. */
export async function replaceAction(tx: Writer, action: StoredAction): Promise<void> {
  const { actionId } = action
  const tables = tx.tables<ActionTables>()
  await forgetText(tx, actionId)
  for (const table of ['actions', 'action_recipients', 'action_attachments', 'action_tags'] as const)
    await tables
      .deleteFrom(table)
      .where('tenant_id', '=', tx.tenantId)
      .where('action_id', '=', actionId)
      .execute()
  await insertAction(tx, action)
}

/** Takes the mark of a notification away. */
export async function clearMark(tx: Writer, actionId: ActionId): Promise<void> {
  await tx
    .tables<ActionTables>()
    .updateTable('actions')
    .set({ marked: 0 })
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', actionId)
    .execute()
}

/** Deletes an action of another tenant: what remains tells a replay that it was here. */
export async function eraseAction(tx: Writer, actionId: ActionId): Promise<void> {
  await forgetText(tx, actionId)
  await tx
    .tables<ActionTables>()
    .updateTable('actions')
    .set({ status: 'D', marked: 0, content: null, attachments: null, x: null, token: null })
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', actionId)
    .execute()
}

async function forgetText(tx: Writer, actionId: ActionId): Promise<void> {
  const row = await tx
    .tables<ActionTables>()
    .selectFrom('actions')
    .select('seq')
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', actionId)
    .executeTakeFirst()
  if (row) await deleteSearchText(tx, row.seq)
}

/** Has the issuer withdrawn this action before it arrived? */
export async function hasTombstone(
  reader: Reader,
  { actionId, issuerTag, type }: Pick<StoredAction, 'actionId' | 'issuerTag' | 'type'>,
): Promise<boolean> {
  const row = await reader.first(selectTombstone, { tenantId: reader.tenantId, actionId, issuerTag, type })
  return row !== undefined
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
  { tenant_id: number; issuer_tag: string }
>((tables, value) =>
  tables.selectFrom('actions').select(['tenant_id', 'issuer_tag']).where('action_id', '=', value('actionId')),
)

/** NOTE: over all tenants: who on this server holds an action, so that what is said about it finds them. */
export async function listHolders(
  reader: Reader,
  actionId: ActionId,
): Promise<{ tenantId: TenantId; issuerTag: IdTag }[]> {
  const rows = await reader.run(selectHolders, { actionId })
  return rows.map((row) => ({ tenantId: row.tenant_id as TenantId, issuerTag: row.issuer_tag as IdTag }))
}

const selectExpired = statement<ActionTables, { now: number; limit: number }, ActionRow>((tables, value) =>
  tables
    .selectFrom('actions')
    .select(rowColumns)
    .where('expires_at', '<=', value('now'))
    .where('expires_at', 'is not', null)
    .where(isLiveStatus)
    .orderBy('expires_at')
    .limit(value('limit')),
)

/** NOTE: over all tenants: published actions whose time is over. */
export async function listExpired(
  reader: Reader,
  now: number,
  limit: number,
): Promise<{ tenantId: TenantId; action: StoredAction }[]> {
  const rows = await reader.run(selectExpired, { now, limit })
  return rows.map((row) => ({ tenantId: row.tenant_id as TenantId, action: fromRow(row) }))
}

function toRow(tenantId: TenantId, action: StoredAction): ActionRow {
  return {
    tenant_id: tenantId,
    action_id: action.actionId,
    type: action.type,
    sub_type: action.subType ?? null,
    issuer_tag: action.issuerTag,
    author_tag: action.authorTag ?? null,
    audience_tag: action.audienceTag ?? null,
    audience: action.audience.length > 0 ? JSON.stringify(action.audience) : null,
    parent_id: action.parentId ?? null,
    root_id: action.rootId ?? null,
    within_id: action.withinId ?? null,
    subject: action.subject ?? null,
    visibility: action.visibility,
    status: action.status,
    flags: action.flags ?? null,
    created_at: action.createdAt,
    issued_at: action.issuedAt,
    published_at: action.publishedAt ?? null,
    publish_at: action.publishAt ?? null,
    expires_at: action.expiresAt ?? null,
    unique_key: uniqueKeyOf(action) ?? null,
    marked: Number(action.isMarked),
    content: action.content === undefined ? null : JSON.stringify(action.content),
    attachments: action.attachments.length > 0 ? JSON.stringify(action.attachments) : null,
    x: action.x === undefined ? null : JSON.stringify(action.x),
    nonce: action.nonce ?? null,
    token: action.token ?? null,
  }
}

function fromRow(row: ActionRow): StoredAction {
  const text = <Text extends string>(value: string | null) => (value ?? undefined) as Text | undefined
  return {
    actionId: row.action_id as ActionId,
    type: row.type as ActionTypeName,
    subType: text(row.sub_type),
    parentId: text<ActionId>(row.parent_id),
    rootId: text<ActionId>(row.root_id),
    withinId: text<ActionId>(row.within_id),
    issuerTag: row.issuer_tag as IdTag,
    authorTag: text<IdTag>(row.author_tag),
    audienceTag: text<IdTag>(row.audience_tag),
    audience: parsed<IdTag[]>(row.audience) ?? [],
    content: parsed<Record<string, unknown>>(row.content),
    attachments: parsed<FileId[]>(row.attachments) ?? [],
    subject: text(row.subject),
    expiresAt: row.expires_at ?? undefined,
    visibility: row.visibility as Visibility,
    flags: text(row.flags),
    x: parsed<Record<string, unknown>>(row.x),
    status: row.status as StoredStatus,
    isMarked: row.marked === 1,
    createdAt: row.created_at,
    issuedAt: row.issued_at,
    publishedAt: row.published_at ?? undefined,
    publishAt: row.publish_at ?? undefined,
    nonce: text(row.nonce),
    token: text(row.token),
  }
}

function parsed<Value>(text: string | null): Value | undefined {
  return text === null ? undefined : (JSON.parse(text) as Value)
}
