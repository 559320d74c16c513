import { type Action, type ActionId, type Page, parseActionId } from '@kith/protocol'
import { listActions, type ShowDeps } from '#features/actions/index.ts'
import { findViewer } from '#features/relations/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import type { Outgoing } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { findMessage } from './conversation-store.ts'
import { hasConversation, listMessagePage } from './message-list-store.ts'

interface ListRequest {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly conversationId: string
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  /** The message with which the list begins. */
  readonly from?: string | undefined
  readonly direction?: 'asc' | 'desc' | undefined
}

const defaultLimit = 20

/** A page of the messages of a conversation, the last to arrive first. */
export async function listMessages(
  deps: ShowDeps,
  { tenant, caller, conversationId, limit = defaultLimit, cursor, from, direction = 'desc' }: ListRequest,
): Promise<Page<Outgoing<Action>>> {
  const reader = deps.db.reader(tenant.tenantId)
  const { facts } = await findViewer(reader, tenant, caller)
  const hasBlocksOrMutes = facts.has('has-blocks-or-mutes')
  const looking = { ownTag: tenant.idTag, now: nowSecs(deps.clock), hasBlocksOrMutes }
  if (!(await hasConversation(reader, looking, conversationId))) throw new Failure('E-NOTFOUND')
  const begin =
    from === undefined || cursor !== undefined ? undefined : await findPosition(reader, conversationId, from)
  const page = { conversationId, direction, limit, cursor, from: begin }
  const { items: actionIds, nextCursor } = await listMessagePage(reader, looking, page)
  const shown = await findShown(deps, { tenant, caller }, actionIds)
  return { items: actionIds.flatMap((actionId) => shown.get(actionId) ?? []), nextCursor }
}

async function findPosition(reader: Reader, conversationId: string, from: string): Promise<number> {
  const actionId = parseActionId(from)
  const message = actionId && (await findMessage(reader, actionId))
  if (message?.conversationId !== conversationId) throw new Failure('E-ACTION-NOTFOUND')
  return message.position
}

/** Messages as the list of actions shows them, by their ids. */
export async function findShown(
  deps: ShowDeps,
  { tenant, caller }: Pick<ListRequest, 'tenant' | 'caller'>,
  actionIds: readonly ActionId[],
): Promise<ReadonlyMap<string, Outgoing<Action>>> {
  if (actionIds.length === 0) return new Map()
  const filter = { types: ['MSG'], actionIds }
  const page = await listActions(deps, { tenant, caller, filter, limit: actionIds.length })
  return new Map(page.items.map((action) => [action.actionId, action]))
}
