import { type SqlBool, sql } from 'kysely'
import type { Viewer } from '#features/relations/index.ts'
import { type ActionFilter, visibleStatuses } from './action-filter.ts'
import type { Condition, Value } from './branch-pages-store.ts'

// The same text as in the indexes: SQLite recognizes a partial index by its text.
export const isLiveStatus = sql<SqlBool>`a.status in ('A', 'C')`
const isUnlisted = sql<SqlBool>`a.status in ('R', 'S', 'D', 'P')`
// What visitors may see, besides what they issued or received themselves.
export const isOnPage = sql<SqlBool>`a.feed_only = 0`

/** Conditions for published actions that have not expired. Requests (C) and marked actions (N) are groups of their own
 * when A is not asked for. */
export function liveGroups(viewer: Viewer, filter: ActionFilter, value: Value): Condition[][] {
  const isUnexpired = sql<SqlBool>`(a.expires_at is null or a.expires_at > ${value('now')})`
  const asked = new Set(visibleStatuses(viewer, filter.statuses).any)
  const isActive = sql<SqlBool>`a.status = 'A'`
  // The indexes of public actions hold status A only.
  if (viewer.idTag === undefined) return asked.has('A') ? [[isActive, isOnPage, isUnexpired]] : []
  const group = (...conditions: Condition[]) => [...conditions, isLiveStatus, isUnexpired]
  if (asked.has('A')) return [asked.has('C') ? group() : group(isActive)]
  const isNew = sql<SqlBool>`a.marked = 1`
  return [
    ...(asked.has('C') ? [group(sql<SqlBool>`a.status = 'C'`)] : []),
    ...(asked.has('N') ? [asked.has('C') ? group(isNew, isActive) : group(isNew)] : []),
  ]
}

/** Conditions for actions that are being verified, for the tenant, and for drafts, scheduled and deleted actions, for
 * their issuer. */
export function unlistedGroups(viewer: Viewer, filter: ActionFilter, value: Value): Condition[][] {
  const { any, own } = visibleStatuses(viewer, filter.statuses)
  const isOwn = viewer.facts.has('acts-as-tenant')
    ? sql<SqlBool>`a.issuer_tag = ${value('tenantTag')}`
    : sql<SqlBool>`a.author_tag = ${value('viewerTag')}`
  return [
    ...(any.includes('P') ? [[sql<SqlBool>`a.status = 'P'`, isUnlisted]] : []),
    ...own.map((status) => [sql<SqlBool>`a.status = ${sql.lit(status)}`, isUnlisted, isOwn]),
  ]
}
