import {
  listConversations as listContract,
  markConversationRead as markContract,
  listMessages as messagesContract,
} from '@kith/protocol'
import type { ShowDeps } from '#features/actions/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { bind, type Endpoint } from '#infra/http/index.ts'
import type { ConversationEvent } from './events.ts'
import { listConversations } from './list-conversations.ts'
import { listMessages } from './list-messages.ts'
import { markRead } from './mark-read.ts'

export function conversationEndpoints(
  deps: ShowDeps & { readonly emit: Emit<ConversationEvent> },
): Endpoint[] {
  return [
    bind(listContract, ({ tenant, caller, query: { limit, cursor } }) =>
      listConversations(deps, { tenant, caller, limit, cursor }),
    ),
    bind(messagesContract, ({ tenant, caller, params: { conversationId }, query: { sortDir, ...page } }) =>
      listMessages(deps, { tenant, caller, conversationId, direction: sortDir, ...page }),
    ),
    bind(markContract, ({ tenant, caller, params: { conversationId }, body: { upTo } }) =>
      markRead(deps, { tenant, caller, conversationId, upTo }),
    ),
  ]
}
