import { pushTexts } from './push-texts.ts'
import { type Language, textsIn } from './texts.ts'

/** What a notification shows, and where it leads. */
export interface PushNotice {
  readonly title: string
  readonly body: string
  /** A newer one with the same tag takes its place. */
  readonly tag: string
  readonly data: PushData
}

/** What a notification that is shown is about. */
export interface PushData {
  readonly path: string
  readonly actionId: string
  readonly conversationId?: string
}

/** The notification of a push message (docs/protocol/push.md): one per conversation or post, otherwise one per action. Undefined
 * for messages of a newer server. */
export function pushNotice(message: unknown, language: Language): PushNotice | undefined {
  if (typeof message !== 'object' || message === null) return undefined
  const { type, actionType, issuer, preview, actionId, conversationId, postId } = message as Readonly<
    Record<string, unknown>
  >
  if (type !== 'action' || typeof issuer !== 'string' || typeof actionId !== 'string') return undefined
  const t = textsIn(pushTexts, language)
  const known = t[actionType as keyof typeof t] ?? t.other
  const shown = { title: issuer, body: typeof preview === 'string' && preview !== '' ? preview : known }
  if (actionType === 'MSG' && typeof conversationId === 'string') {
    const path = `/messages/${encodeURIComponent(conversationId)}`
    return { ...shown, tag: conversationId, data: { path, actionId, conversationId } }
  }
  if (actionType === 'MSG')
    return { ...shown, tag: `message ${issuer}`, data: { path: '/messages', actionId } }
  if (typeof postId !== 'string')
    return { ...shown, tag: actionId, data: { path: '/notifications', actionId } }
  // The address of a comment shows it in its thread.
  const placeId = actionType === 'CMNT' ? actionId : postId
  return { ...shown, tag: postId, data: { path: `/posts/${encodeURIComponent(placeId)}`, actionId } }
}
