import { useInfiniteQuery } from '@tanstack/preact-query'
import { useEffect } from 'preact/hooks'
import { closePushed } from '#platform/push.ts'
import { conversationList, conversationsOf } from './conversations-query.ts'

/** How many conversations have something unread, of those that are loaded. */
export function useUnreadMessages(): number {
  const { data } = useInfiniteQuery(conversationList)
  return conversationsOf(data).filter(({ unread }) => unread > 0).length
}

/** Closes what this device announces of conversations that were read, here or elsewhere. */
export function useMessagesSeen(): void {
  const { data } = useInfiniteQuery(conversationList)
  useEffect(() => {
    const read = new Set(
      conversationsOf(data).flatMap(({ unread, conversationId }) => (unread === 0 ? [conversationId] : [])),
    )
    if (read.size > 0)
      void closePushed(({ conversationId }) => conversationId !== undefined && read.has(conversationId))
  }, [data])
}
