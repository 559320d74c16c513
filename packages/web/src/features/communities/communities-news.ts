import type { NewsHandlers } from '#platform/news.ts'
import { queries } from '#platform/query.ts'
import { communitiesKey, postsKey } from './communities-keys.ts'

/** What the lists of communities, and what was written to them, do with news. */
export const communitiesNews: NewsHandlers = {
  ACTION: ({ type, audienceTag }) => {
    if (type === 'INVT' || type === 'CONN') void queries.invalidateQueries({ queryKey: communitiesKey })
    else if (audienceTag !== undefined) void queries.invalidateQueries({ queryKey: postsKey(audienceTag) })
  },
  ACTION_STATUS: () => void queries.invalidateQueries({ queryKey: communitiesKey }),
}
