import { sql } from 'kysely'
import { statement, type Writer } from '#infra/db/index.ts'
import type { StoredAction } from './action.ts'
import type { ActionTables } from './action-tables.ts'
import { tagsOf } from './tags.ts'

interface LookupValues {
  readonly tenantId: number
  readonly actionId: string
  readonly name: string
}

interface DatedValues extends LookupValues {
  readonly createdAt: number
}

const insertRecipient = statement<ActionTables, DatedValues, unknown>((tables, value) =>
  tables.insertInto('action_recipients').values({
    tenant_id: value('tenantId'),
    action_id: value('actionId'),
    id_tag: value('name'),
    created_at: value('createdAt'),
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

const insertTag = statement<ActionTables, DatedValues, unknown>((tables, value) =>
  tables.insertInto('action_tags').values({
    tenant_id: value('tenantId'),
    action_id: value('actionId'),
    tag: value('name'),
    created_at: value('createdAt'),
  }),
)

/** Writes what an action is looked up by beside its own columns: the rest of its audience, attachments and tags. */
export async function insertLookups(
  tx: Writer,
  { actionId, issuerTag, audienceTag, audience, attachments, content, createdAt }: StoredAction,
): Promise<void> {
  const of = (name: string) => ({ tenantId: tx.tenantId, actionId, name })
  // No action is found twice by its audience.
  for (const idTag of audience.filter((one) => one !== audienceTag))
    await tx.change(insertRecipient, { ...of(idTag), createdAt })
  for (const fileId of attachments) await tx.change(insertAttachment, { ...of(fileId), issuerTag })
  for (const tag of tagsOf(content)) await tx.change(insertTag, { ...of(tag), createdAt })
}
