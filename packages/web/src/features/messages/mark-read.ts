import { type Action, type Conversation, createAction, markConversationRead } from '@kith/protocol'
import { client } from '#platform/client.ts'
import { session } from '#platform/session.ts'
import { changeConversation } from './conversations-query.ts'

/** Marks a conversation as read up to a message that was seen, and tells who wrote it. */
export async function markRead(conversation: Conversation, seen: Action): Promise<void> {
  const { conversationId, request } = conversation
  const { data } = await client.call(markConversationRead, {
    params: { conversationId },
    body: { upTo: seen.actionId },
  })
  changeConversation(conversationId, { unread: data.unread })
  // A stranger does not learn that a message was read before it is answered.
  if (request === undefined && tellsReaders()) await acknowledge(seen)
}

async function acknowledge({ actionId, x }: Action): Promise<void> {
  if (x?.ackedAt !== undefined) return
  const body = { type: 'ACK', subject: actionId, idempotencyKey: `ack-${actionId}` } as const
  await client.call(createAction, { body })
}

function tellsReaders(): boolean {
  const present = session.get()
  const settings = 'login' in present ? present.login.settings : []
  return settings.find(([name]) => name === 'privacy.read_receipts')?.[1] !== 'false'
}
