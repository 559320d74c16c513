import { bookmarksKey, communitiesQuery, feedKey, repostsKey, rowsKey } from './feed-query.ts'

/** The keys of what is kept for reading without a connection. */
export const feedKept = [
  rowsKey,
  [...feedKey, 'post'],
  communitiesQuery.queryKey,
  bookmarksKey,
  repostsKey,
] as const
