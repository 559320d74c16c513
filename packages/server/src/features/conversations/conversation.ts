import { createHash } from 'node:crypto'
import type { ActionId, IdTag } from '@kith/protocol'
import type { StoredAction } from '#features/actions/index.ts'

/** The messages between the same identities; of three or more, those under the same first message. */
export interface ConversationKey {
  /** The same at every participant. */
  readonly conversationId: string
  /** In the order of their names. */
  readonly participants: readonly IdTag[]
  /** Of three or more. */
  readonly rootId: ActionId | undefined
}

/** The conversation that a message belongs to (docs/protocol/actions.md, Messages). The participants are part of the id,
 * so that nobody else can write into a conversation by naming its first message. */
export function conversationOf(
  message: Pick<StoredAction, 'actionId' | 'issuerTag' | 'audienceTag' | 'audience' | 'withinId'>,
): ConversationKey {
  const { actionId, issuerTag, audienceTag, audience, withinId } = message
  const named = audienceTag === undefined ? audience : [audienceTag, ...audience]
  const participants = [...new Set([issuerTag, ...named])].sort()
  const rootId = participants.length > 2 ? (withinId ?? actionId) : undefined
  const text = JSON.stringify(['conversation', rootId ?? null, ...participants])
  const hash = createHash('sha256').update(text).digest('base64url')
  return { conversationId: `c1~${hash}`, participants, rootId }
}

/** The other identity of a conversation of two; the tenant itself where it writes to itself. */
export function otherOf(participants: readonly IdTag[], ownTag: IdTag): IdTag | undefined {
  if (participants.length > 2) return undefined
  return participants.find((idTag) => idTag !== ownTag) ?? ownTag
}
