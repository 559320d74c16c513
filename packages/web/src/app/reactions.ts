import { communitiesKey, communitiesNews } from '#features/communities/index.ts'
import { askForNewest, feedKept, feedNews } from '#features/feed/index.ts'
import { filesKey, filesNews } from '#features/files/index.ts'
import { messagesKept, messagesKey, messagesNews } from '#features/messages/index.ts'
import { notificationsKey, notificationsNews } from '#features/notifications/index.ts'
import { peopleKept, peopleNews } from '#features/people/index.ts'
import { settingsNews } from '#features/settings/index.ts'
import type { NewsHandlers } from '#platform/news.ts'
import type { Senders } from '#platform/outbox.ts'
import { queries } from '#platform/query.ts'
import { whenIdle } from '#platform/when-idle.ts'

/** What follows from which event of the bus, by feature. */
export const news: readonly NewsHandlers[] = [
  communitiesNews,
  feedNews,
  filesNews,
  messagesNews,
  notificationsNews,
  peopleNews,
  settingsNews,
]

/** When the bus opens first: what is shown was asked for before, and nobody was told of what came between. */
export const afterOpening = () => void whenIdle(askAgain)

function askAgain(): void {
  askForNewest()
  for (const queryKey of [filesKey, messagesKey, notificationsKey])
    void queries.invalidateQueries({ queryKey })
}

/** The keys of what this device keeps of the server's answers. */
export const kept = [...feedKept, ...messagesKept, ...peopleKept, communitiesKey, filesKey, notificationsKey]

/** Who sends what was done without a connection. */
export const senders: Senders = {
  message: async () => (await import('#features/messages/screens.ts')).messageSender,
  comment: async () => (await import('#features/feed/screens.ts')).commentSender,
  reaction: async () => (await import('#features/feed/screens.ts')).reactionSender,
  bookmark: async () => (await import('#features/feed/screens.ts')).bookmarkSender,
}
