import type { Conversation, IdTag, Page } from '@kith/protocol'
import type { ShowDeps } from '#features/actions/index.ts'
import { findViewer, isStranger, listEffectiveRelations } from '#features/relations/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import type { Outgoing } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { type ListedConversation, listConversationPage, listParticipants } from './conversation-list-store.ts'
import { conversationView } from './conversation-view.ts'
import { findShown } from './list-messages.ts'

interface ListRequest {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

const defaultLimit = 20

/** A page of the tenant's conversations, by a number of queries that does not grow with it. */
export async function listConversations(
  deps: ShowDeps,
  { tenant, caller, limit = defaultLimit, cursor }: ListRequest,
): Promise<Page<Outgoing<Conversation>>> {
  const reader = deps.db.reader(tenant.tenantId)
  const { facts } = await findViewer(reader, tenant, caller)
  const hasBlocksOrMutes = facts.has('has-blocks-or-mutes')
  const looking = { ownTag: tenant.idTag, now: nowSecs(deps.clock), hasBlocksOrMutes }
  const { items, nextCursor } = await listConversationPage(reader, looking, { limit, cursor })
  const lastIds = items.flatMap(({ lastMessageId }) => lastMessageId ?? [])
  const messages = await findShown(deps, { tenant, caller }, lastIds)
  const participants = await listParticipants(reader, [
    ...new Set(items.flatMap((item) => item.participants)),
  ])
  const requests = await findRequests(reader, tenant, items)
  return {
    items: items.map((item) =>
      conversationView(item, {
        ownTag: tenant.idTag,
        participants,
        lastMessage: item.lastMessageId && messages.get(item.lastMessageId),
        isRequest: requests.has(item.conversationId),
      }),
    ),
    nextCursor,
  }
}

/** Those that strangers began and that the tenant has not answered. */
async function findRequests(
  reader: Reader,
  tenant: Tenant,
  items: readonly ListedConversation[],
): Promise<ReadonlySet<string>> {
  const unanswered = items.filter(({ hasOwn }) => !hasOwn)
  const starters = [...new Set(unanswered.map(({ starterTag }): IdTag => starterTag))]
  if (starters.length === 0) return new Set()
  const relationTo = await listEffectiveRelations(reader, [tenant.tenantId], starters)
  return new Set(
    unanswered
      .filter(({ starterTag }) => isStranger(tenant.type, relationTo(tenant.tenantId, starterTag)))
      .map(({ conversationId }) => conversationId),
  )
}
