import type { ActionId, CursorPage } from '@kith/protocol'
import { keysetPage, type Reader } from '#infra/db/index.ts'
import { isShownConversation, isShownMessage, type Looking } from './conversation-list-store.ts'
import type { ConversationTables } from './conversation-store.ts'

/** Is there such a conversation, and is the tenant shown it? */
export async function hasConversation(
  reader: Reader,
  looking: Looking,
  conversationId: string,
): Promise<boolean> {
  const row = await reader
    .tables<ConversationTables>()
    .selectFrom('conversations as c')
    .select('c.conversation_id')
    .where('c.tenant_id', '=', reader.tenantId)
    .where('c.conversation_id', '=', conversationId)
    .where(isShownConversation(reader, looking))
    .executeTakeFirst()
  return row !== undefined
}

interface MessagePage {
  readonly conversationId: string
  readonly direction: 'asc' | 'desc'
  readonly limit: number
  readonly cursor: string | undefined
  /** The position at which the list begins, itself included. */
  readonly from: number | undefined
}

// A position is given once in a conversation.
const order = {
  sort: 'arrived',
  column: 'm.position',
  kind: 'integer',
  idColumn: 'm.position',
  idKind: 'integer',
} as const

/** The ids of a page of messages, in the order of their arrival: an index is read from the place of the page on. */
export async function listMessagePage(
  reader: Reader,
  looking: Looking,
  { conversationId, direction, limit, cursor, from }: MessagePage,
): Promise<CursorPage<ActionId>> {
  const shown = reader
    .tables<ConversationTables>()
    .selectFrom('conversations as c')
    .innerJoin('conversation_messages as m', (join) =>
      join.onRef('m.tenant_id', '=', 'c.tenant_id').onRef('m.conversation_id', '=', 'c.conversation_id'),
    )
    .select('m.action_id')
    .where('c.tenant_id', '=', reader.tenantId)
    .where('c.conversation_id', '=', conversationId)
    .where(isShownMessage(reader, looking))
    .$if(from !== undefined, (query) =>
      query.where('m.position', direction === 'asc' ? '>=' : '<=', from ?? 0),
    )
  const page = await keysetPage(shown, order, { direction, limit, cursor })
  return { ...page, items: page.items.map(({ action_id }) => action_id as ActionId) }
}
