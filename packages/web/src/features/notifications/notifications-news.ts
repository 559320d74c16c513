import type { NewsHandlers } from '#platform/news.ts'
import { queries } from '#platform/query.ts'
import { notificationsKey } from './notifications-query.ts'
import { showStatus } from './show-status.ts'

const typesOfOthers = new Set(['MSG', 'ACK'])

/** What the notifications do with news. */
export const notificationsNews: NewsHandlers = {
  ACTION: ({ type }) => {
    if (!typesOfOthers.has(type)) refreshSoon()
  },
  ACTION_STATUS: ({ actionId, status }) => {
    if (status === 'D') showStatus([actionId], 'D')
    refreshSoon()
  },
}

// Of much news at once one request is made.
const pauseMs = 1_000
let timer: ReturnType<typeof setTimeout> | undefined

function refreshSoon(): void {
  if (timer !== undefined) return
  timer = setTimeout(() => {
    timer = undefined
    void queries.invalidateQueries({ queryKey: notificationsKey })
  }, pauseMs)
}
