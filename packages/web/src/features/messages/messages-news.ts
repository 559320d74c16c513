import type { NewsHandlers } from '#platform/news.ts'
import { queries } from '#platform/query.ts'
import { changeConversation, conversationList } from './conversations-query.ts'
import { withoutMessage, withReceipt } from './thread.ts'
import { changeThreads, threadOf } from './thread-query.ts'

/** What the messages do with news. */
export const messagesNews: NewsHandlers = {
  ACTION: ({ type, subject, createdAt }) => {
    if (type === 'ACK' && subject !== undefined)
      changeThreads((thread) => withReceipt(thread, subject, Date.parse(createdAt) / 1000))
  },
  ACTION_STATUS: ({ actionId, status }) => {
    if (status === 'D') changeThreads((thread) => withoutMessage(thread, actionId))
  },
  CONVERSATION: ({ conversationId, unread }) => {
    changeConversation(conversationId, { unread })
    void refresh(conversationId)
  },
}

// Bound: the conversations with news that are being asked about.
const underWay = new Map<string, { isDue: boolean }>()

/** Asks for what is new in a conversation. News that comes meanwhile is asked for once, afterwards. */
async function refresh(conversationId: string): Promise<void> {
  const running = underWay.get(conversationId)
  if (running) {
    running.isDue = true
    return
  }
  const mine = { isDue: true }
  underWay.set(conversationId, mine)
  while (mine.isDue) {
    mine.isDue = false
    await Promise.all([
      queries.invalidateQueries({ queryKey: conversationList.queryKey }),
      queries.invalidateQueries({ queryKey: threadOf(conversationId).queryKey }),
    ])
  }
  underWay.delete(conversationId)
}
