import { type ConversationUnread, parseActionId } from '@kith/protocol'
import { findViewer } from '#features/relations/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { findUnread } from './conversation-list-store.ts'
import { findMessage, moveReadMark } from './conversation-store.ts'
import type { ConversationEvent } from './events.ts'

interface UnreadDeps {
  readonly db: Database
  readonly clock: Clock
}

interface ConversationRequest {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly conversationId: string
}

/** Marks the messages up to one of them as read, in the order of their arrival. */
export async function markRead(
  deps: UnreadDeps & { readonly emit: Emit<ConversationEvent> },
  request: ConversationRequest & { readonly upTo: string },
): Promise<ConversationUnread> {
  const { tenant, conversationId } = request
  const { tenantId } = tenant
  if ((await countUnread(deps, request)) === undefined) throw new Failure('E-NOTFOUND')
  const actionId = parseActionId(request.upTo)
  await deps.db.transact(tenantId, async (tx) => {
    const message = actionId && (await findMessage(tx, actionId))
    if (message?.conversationId !== conversationId) throw new Failure('E-ACTION-NOTFOUND')
    const place = { tenantId, conversationId, position: message.position }
    if (await moveReadMark(tx.tables(), place))
      await deps.emit(tx, { kind: 'conversation.changed', conversationId })
  })
  return { conversationId, unread: (await countUnread(deps, request)) ?? 0 }
}

/** Undefined for a conversation that the tenant does not have, or is not shown. */
export async function countUnread(
  { db, clock }: UnreadDeps,
  { tenant, caller, conversationId }: ConversationRequest,
): Promise<number | undefined> {
  const reader = db.reader(tenant.tenantId)
  const { facts } = await findViewer(reader, tenant, caller)
  const hasBlocksOrMutes = facts.has('has-blocks-or-mutes')
  return findUnread(reader, { ownTag: tenant.idTag, now: nowSecs(clock), hasBlocksOrMutes }, conversationId)
}
