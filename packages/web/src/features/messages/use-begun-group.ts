import type { Conversation } from '@kith/protocol'
import { useInfiniteQuery } from '@tanstack/preact-query'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { conversationList, conversationsOf } from './conversations-query.ts'

/** Whether a conversation of several has no message yet that the others could answer. */
export function isUnbegun({ participants, rootId }: Conversation): boolean {
  return participants.length > 1 && rootId === undefined
}

/** Leads from the address at which a conversation of several is begun to the conversation, once its first message has made it:
 * the one of these people that was not there before. */
export function useBegunGroup(conversation: Conversation): void {
  const [, navigate] = useLocation()
  const { data } = useInfiniteQuery(conversationList)
  const those = conversationsOf(data).filter((one) => areSame(one, conversation))
  const before = useRef(those)
  const begun = those.find(
    ({ conversationId }) => !before.current.some((one) => one.conversationId === conversationId),
  )
  const path = begun && isUnbegun(conversation) ? `/messages/${begun.conversationId}` : undefined
  useEffect(() => {
    if (path !== undefined) navigate(path, { replace: true })
  }, [path, navigate])
}

function areSame(one: Conversation, other: Conversation): boolean {
  const names = ({ participants }: Conversation) => participants.map(({ idTag }) => idTag).sort()
  return names(one).join() === names(other).join()
}
