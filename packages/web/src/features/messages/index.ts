export { messagesKey } from './conversations-query.ts'
export { messagesKept } from './kept.ts'
export { messagesNews } from './messages-news.ts'
export { useMessagesSeen, useUnreadMessages } from './use-unread-messages.ts'
