import { conversationList } from './conversations-query.ts'

/** The keys of what is kept for reading without a connection. */
export const messagesKept = [
  conversationList.queryKey,
  ['messages', 'thread'],
  ['messages', 'one'],
  ['profiles'],
] as const
