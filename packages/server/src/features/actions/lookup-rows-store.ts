import { type SqlBool, sql } from 'kysely'
import { statement, type Writer } from '#infra/db/index.ts'
import type { StoredAction } from './action.ts'
import type { ActionTables } from './action-tables.ts'
import { tagsOf } from './tags.ts'

interface LookupValues {
  readonly tenantId: number
  readonly actionId: string
  readonly name: string
}

type Shown = Pick<StoredAction, 'actionId' | 'visibility' | 'isFeedOnly'>

interface ShownValues extends LookupValues {
  readonly createdAt: number
  readonly feedOnly: number
  readonly isPublic: number
}

const insertRecipient = statement<ActionTables, ShownValues, unknown>((tables, value) =>
  tables.insertInto('action_recipients').values({
    tenant_id: value('tenantId'),
    action_id: value('actionId'),
    id_tag: value('name'),
    created_at: value('createdAt'),
    feed_only: value('feedOnly'),
  }),
)

const insertAttachment = statement<ActionTables, LookupValues & { readonly issuerTag: string }, unknown>(
  (tables, value) =>
    tables.insertInto('action_attachments').values({
      tenant_id: value('tenantId'),
      action_id: value('actionId'),
      file_id: value('name'),
      issuer_tag: value('issuerTag'),
      awaited: sql.lit(0),
    }),
)

const insertTag = statement<ActionTables, ShownValues, unknown>((tables, value) =>
  tables.insertInto('action_tags').values({
    tenant_id: value('tenantId'),
    action_id: value('actionId'),
    tag: value('name'),
    created_at: value('createdAt'),
    feed_only: value('feedOnly'),
    is_public: value('isPublic'),
  }),
)

/** Writes the rows that an action is looked up by: the rest of its audience, its attachments and its tags. */
export async function insertLookups(tx: Writer, action: StoredAction): Promise<void> {
  const { actionId, issuerTag, audienceTag, audience, attachments, createdAt } = action
  const of = (name: string) => ({ tenantId: tx.tenantId, actionId, name })
  const shown = { createdAt, ...shownFlags(action) }
  // The first audience is a column of the action, and no list may find the action twice.
  for (const idTag of audience.filter((one) => one !== audienceTag))
    await tx.change(insertRecipient, { ...of(idTag), ...shown })
  for (const fileId of attachments) await tx.change(insertAttachment, { ...of(fileId), issuerTag })
  await insertTags(tx, action)
}

async function insertTags(
  tx: Writer,
  action: Shown & Pick<StoredAction, 'content' | 'createdAt'>,
): Promise<void> {
  const { actionId, content, createdAt } = action
  for (const name of tagsOf(content))
    await tx.change(insertTag, { tenantId: tx.tenantId, actionId, name, createdAt, ...shownFlags(action) })
}

/** Finds the tags of an action anew. */
export async function updateTags(tx: Writer, action: Parameters<typeof insertTags>[1]): Promise<void> {
  await tx.change(deleteTags, { tenantId: tx.tenantId, actionId: action.actionId })
  await insertTags(tx, action)
}

// NOTE: by the key, which an index on the action has: without statistics SQLite would go through the tenant's rows else.
const deletionBy = (table: 'action_attachments' | 'action_tags', name: 'file_id' | 'tag') =>
  statement<ActionTables, { tenantId: number; actionId: string }, unknown>((tables, value) =>
    tables.deleteFrom(table).where(
      sql<SqlBool>`(tenant_id, ${sql.ref(name)}, action_id) in (select tenant_id, ${sql.ref(name)}, action_id
        from ${sql.table(table)} where tenant_id = ${value('tenantId')} and action_id = ${value('actionId')})`,
    ),
  )
const deleteTags = deletionBy('action_tags', 'tag')
const deleteAttachments = deletionBy('action_attachments', 'file_id')

/** Removes the rows that repeat what an action says: its attachments and its tags. */
export async function deleteSaid(tx: Writer, actionId: string): Promise<void> {
  for (const deletion of [deleteAttachments, deleteTags])
    await tx.change(deletion, { tenantId: tx.tenantId, actionId })
}

/** Copies to the rows of an action's tags and audience who may see it, after that has changed. */
export async function updateShown(tx: Writer, action: Shown): Promise<void> {
  const { feedOnly: feed_only, isPublic: is_public } = shownFlags(action)
  const tables = tx.tables<ActionTables>()
  await tables
    .updateTable('action_tags')
    .set({ feed_only, is_public })
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', action.actionId)
    .execute()
  await tables
    .updateTable('action_recipients')
    .set({ feed_only })
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', action.actionId)
    .execute()
}

function shownFlags({ visibility, isFeedOnly = false }: Pick<StoredAction, 'visibility' | 'isFeedOnly'>) {
  return { feedOnly: Number(isFeedOnly), isPublic: Number(visibility === 'P' && !isFeedOnly) }
}
