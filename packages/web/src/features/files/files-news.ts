import { createGathering } from '#lib/gathering.ts'
import type { NewsHandlers } from '#platform/news.ts'
import { queries } from '#platform/query.ts'

// An upload of many files tells of each, and the server is to take the next ones meanwhile.
const refresh = createGathering({
  shortestMs: 500,
  longestMs: 2_000,
  work: () => void queries.invalidateQueries({ queryKey: ['files'] }),
})

/** What the files do with news. */
export const filesNews: NewsHandlers = { FILE: refresh }
