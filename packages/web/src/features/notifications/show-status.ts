import type { ActionStatus } from '@kith/protocol'
import { queries } from '#platform/query.ts'
import { freshNotifications } from './notifications-query.ts'

/** Shows actions among what is new as if they had this status. */
export function showStatus(ids: readonly string[], status: ActionStatus): void {
  const changed = new Set(ids)
  queries.setQueryData(freshNotifications.queryKey, (data) =>
    data === undefined
      ? undefined
      : {
          ...data,
          pages: data.pages.map((page) => ({
            ...page,
            actions: page.actions.map((one) => (changed.has(one.actionId) ? { ...one, status } : one)),
          })),
        },
  )
}
