import type { NewsHandlers } from '#platform/news.ts'
import { changePost, dropRows, takePost } from './feed-cache.ts'

/** What the feed does with news. What does not name its action, and when it was, is of no use here. */
export const feedNews: NewsHandlers = {
  ACTION: (action) => {
    const isWhole = typeof action?.actionId === 'string' && action.issuer && action.stat
    if (isWhole && !Number.isNaN(Date.parse(action.createdAt))) takePost(action)
  },
  ACTION_STATUS: ({ actionId, status }) => {
    changePost(actionId, (post) => ({ ...post, status }))
    if (status === 'D') dropRows((row) => row.actionId === actionId || row.subject === actionId)
  },
  STAT: ({ actionId, stat }) =>
    changePost(actionId, (post) => ({ ...post, stat: { ...post.stat, ...stat } })),
}
