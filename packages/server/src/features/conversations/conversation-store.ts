import type { ActionId, IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import type { StoredAction } from '#features/actions/index.ts'
import type { Reader, TenantId, Writer, WriteTables } from '#infra/db/index.ts'
import { conversationOf, otherOf } from './conversation.ts'

export interface ConversationTables {
  conversations: {
    tenant_id: number
    conversation_id: string
    participants: string
    /** Of a conversation of two: the other. */
    other_tag: string | null
    root_id: string | null
    /** The issuer of the first message that arrived. */
    starter_tag: string
    has_own: number
    last_at: number
    /** Of the message that arrived last; never given twice while the conversation exists. */
    last_position: number
    read_position: number
  }
  conversation_messages: {
    tenant_id: number
    conversation_id: string
    position: number
    action_id: string
    issuer_tag: string
    created_at: number
    expires_at: number | null
  }
}

export type Message = Pick<
  StoredAction,
  'actionId' | 'issuerTag' | 'audienceTag' | 'audience' | 'withinId' | 'createdAt' | 'expiresAt'
>

interface Appended {
  readonly tenantId: TenantId
  readonly ownTag: IdTag
  readonly message: Message
  /** It moves the conversation to the top of the list. */
  readonly isNews: boolean
}

/** Adds a message at the end of its conversation. The row of the conversation gives out the positions, so that no message
 * appears before one that was seen already. */
export async function appendMessage(
  tables: WriteTables<ConversationTables>,
  { tenantId, ownTag, message, isNews }: Appended,
): Promise<{ readonly conversationId: string; readonly position: number }> {
  const { conversationId, participants, rootId } = conversationOf(message)
  const { issuerTag, createdAt, expiresAt } = message
  const lastAt = isNews ? createdAt : 0
  const { last_position: position } = await tables
    .insertInto('conversations')
    .values({
      tenant_id: tenantId,
      conversation_id: conversationId,
      participants: JSON.stringify(participants),
      other_tag: otherOf(participants, ownTag) ?? null,
      root_id: rootId ?? null,
      starter_tag: issuerTag,
      has_own: Number(issuerTag === ownTag),
      last_at: createdAt,
      last_position: 1,
      read_position: 0,
    })
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'conversation_id']).doUpdateSet({
        last_position: sql<number>`conversations.last_position + 1`,
        last_at: sql<number>`case when conversations.last_at < ${lastAt} then ${lastAt} else conversations.last_at end`,
        has_own: sql<number>`case when excluded.has_own = 1 then 1 else conversations.has_own end`,
      }),
    )
    .returning('last_position')
    .executeTakeFirstOrThrow()
  await tables
    .insertInto('conversation_messages')
    .values({
      tenant_id: tenantId,
      conversation_id: conversationId,
      position,
      action_id: message.actionId,
      issuer_tag: issuerTag,
      created_at: createdAt,
      expires_at: expiresAt ?? null,
    })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'action_id']).doNothing())
    .execute()
  return { conversationId, position }
}

/** Removes a message; with the last one its conversation. Answers the conversation. */
export async function removeMessage(tx: Writer, actionId: ActionId): Promise<string | undefined> {
  const removed = await findMessage(tx, actionId)
  if (!removed) return undefined
  const { conversationId } = removed
  const tables = tx.tables<ConversationTables>()
  await tables
    .deleteFrom('conversation_messages')
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', actionId)
    .execute()
  const newest = await tables
    .selectFrom('conversation_messages')
    .select('created_at')
    .where('tenant_id', '=', tx.tenantId)
    .where('conversation_id', '=', conversationId)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (newest)
    await tables
      .updateTable('conversations')
      .set({ last_at: newest.created_at })
      .where('tenant_id', '=', tx.tenantId)
      .where('conversation_id', '=', conversationId)
      .execute()
  else
    await tables
      .deleteFrom('conversations')
      .where('tenant_id', '=', tx.tenantId)
      .where('conversation_id', '=', conversationId)
      .execute()
  return conversationId
}

/** The place of a message. */
export async function findMessage(
  reader: Reader,
  actionId: ActionId,
): Promise<{ readonly conversationId: string; readonly position: number } | undefined> {
  const row = await reader
    .tables<ConversationTables>()
    .selectFrom('conversation_messages')
    .select(['conversation_id', 'position'])
    .where('tenant_id', '=', reader.tenantId)
    .where('action_id', '=', actionId)
    .executeTakeFirst()
  return row && { conversationId: row.conversation_id, position: row.position }
}

/** False when messages up to there were marked as read before. */
export async function moveReadMark(
  tables: WriteTables<ConversationTables>,
  {
    tenantId,
    conversationId,
    position,
  }: { readonly tenantId: TenantId; readonly conversationId: string; readonly position: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tables
    .updateTable('conversations')
    .set({ read_position: position })
    .where('tenant_id', '=', tenantId)
    .where('conversation_id', '=', conversationId)
    .where('read_position', '<', position)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
