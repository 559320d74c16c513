import type { Action } from '@kith/protocol'
import { useInfiniteQuery } from '@tanstack/preact-query'
import { useEffect } from 'preact/hooks'
import { closePushed } from '#platform/push.ts'
import { freshNotifications, type NotificationPage } from './notifications-query.ts'

/** How much is new or waits for an answer, of what is loaded. */
export function useNewNotifications(): number {
  return useInfiniteQuery(freshNotifications).data?.pages.flatMap(freshOf).length ?? 0
}

function freshOf({ actions }: NotificationPage): readonly Action[] {
  return actions.filter(({ status }) => status === 'N' || status === 'C')
}

/** Closes what this device announces of actions that are no longer new, because they were read here or elsewhere. */
export function useNotificationsSeen(): void {
  const { data, hasNextPage, isFetching } = useInfiniteQuery(freshNotifications)
  useEffect(() => {
    if (!data || hasNextPage || isFetching) return
    const fresh = new Set(data.pages.flatMap(freshOf).map(({ actionId }) => actionId))
    void closePushed(({ actionId, path }) => !path.startsWith('/messages') && !fresh.has(actionId as never))
  }, [data, hasNextPage, isFetching])
}
