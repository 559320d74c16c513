import type { ActionChange } from '#features/actions/index.ts'
import { findEffectiveRelation } from '#features/relations/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { appendMessage, removeMessage } from './conversation-store.ts'
import type { ConversationEvent } from './events.ts'

/** Keeps the conversations of a tenant as its messages are. What a muted identity writes moves nothing to the top. */
export async function noteMessage(
  { emit }: { readonly emit: Emit<ConversationEvent> },
  tx: Writer,
  { kind, tenant, action }: ActionChange,
): Promise<void> {
  if (action.type !== 'MSG' || kind === 'action.changed') return
  const conversationId =
    kind === 'action.deleted'
      ? await removeMessage(tx, action.actionId)
      : await addMessage(tx, tenant, action)
  if (conversationId !== undefined) await emit(tx, { kind: 'conversation.changed', conversationId })
}

async function addMessage(
  tx: Writer,
  { idTag: ownTag }: ActionChange['tenant'],
  message: ActionChange['action'],
): Promise<string | undefined> {
  // Neither drafts nor what awaits its attachments.
  if (message.status !== 'A') return undefined
  const isOwn = message.issuerTag === ownTag
  const isMuted = !isOwn && (await findEffectiveRelation(tx, message.issuerTag))?.isMuted === true
  const appended = { tenantId: tx.tenantId, ownTag, message, isNews: !isMuted }
  return (await appendMessage(tx.tables(), appended)).conversationId
}
