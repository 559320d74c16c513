import type { ActionId, IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import type { Migration, MigrationSchema, TenantId } from '#infra/db/index.ts'
import { appendMessage, moveReadMark } from './conversation-store.ts'

export const conversationsMigrations: readonly Migration[] = [
  {
    id: '0040_conversations',
    async up(schema) {
      await createTables(schema)
      const tenants = await schema
        .tables<FormerTables>()
        .selectFrom('tenants')
        .select(['tenant_id', 'id_tag'])
        .execute()
      for (const { tenant_id, id_tag } of tenants) {
        let last: Place | undefined = { created_at: -1, seq: 0 }
        while (last) last = await fill(schema, { tenantId: tenant_id, idTag: id_tag }, last)
      }
    },
  },
]

async function createTables(schema: MigrationSchema): Promise<void> {
  const key = { tenant_id: 'integer', conversation_id: 'text' } as const
  await schema.createTable(
    'conversations',
    {
      ...key,
      participants: 'json',
      other_tag: 'text null',
      root_id: 'text null',
      starter_tag: 'text',
      has_own: 'boolean',
      last_at: 'integer',
      last_position: 'integer',
      read_position: 'integer',
    },
    { primaryKey: ['tenant_id', 'conversation_id'], clustered: true },
  )
  const newest = ['tenant_id', 'last_at', 'conversation_id']
  await schema.createIndex('conversations_newest', 'conversations', newest)
  await schema.createTable(
    'conversation_messages',
    {
      ...key,
      position: 'integer',
      action_id: 'text',
      issuer_tag: 'text',
      created_at: 'integer',
      expires_at: 'integer null',
    },
    { primaryKey: ['tenant_id', 'conversation_id', 'position'], clustered: true },
  )
  const byAction = ['tenant_id', 'action_id']
  await schema.createIndex('conversation_messages_of', 'conversation_messages', byAction, { unique: true })
}

interface Place {
  readonly created_at: number
  readonly seq: number
}
interface FormerTables {
  tenants: { tenant_id: TenantId; id_tag: IdTag }
  actions: {
    tenant_id: number
    seq: number
    action_id: ActionId
    type: string
    status: string
    issuer_tag: IdTag
    audience_tag: IdTag | null
    audience: string | null
    within_id: ActionId | null
    created_at: number
    expires_at: number | null
    marked: number
  }
}

const portion = 1_000

/** Adds the messages of a portion; answers its last one. Read is what was before a message that the tenant wrote, or whose
 * notification it dismissed. */
async function fill(
  schema: MigrationSchema,
  { tenantId, idTag }: { readonly tenantId: TenantId; readonly idTag: IdTag },
  after: Place,
): Promise<Place | undefined> {
  const rows = await schema
    .tables<FormerTables>()
    .selectFrom('actions')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('type', '=', 'MSG')
    // The text of the index by types.
    .where(sql<boolean>`status in ('A', 'C')`)
    .where((row) => row(row.refTuple('created_at', 'seq'), '>', row.tuple(after.created_at, after.seq)))
    .orderBy('created_at')
    .orderBy('seq')
    .limit(portion)
    .execute()
  for (const row of rows) {
    const message = {
      actionId: row.action_id,
      issuerTag: row.issuer_tag,
      audienceTag: row.audience_tag ?? undefined,
      audience: row.audience === null ? [] : (JSON.parse(row.audience) as IdTag[]),
      withinId: row.within_id ?? undefined,
      createdAt: row.created_at,
      expiresAt: row.expires_at ?? undefined,
    }
    const place = await appendMessage(schema.tables(), { tenantId, ownTag: idTag, message, isNews: true })
    if (row.marked === 0) await moveReadMark(schema.tables(), { tenantId, ...place })
  }
  return rows.at(-1)
}
