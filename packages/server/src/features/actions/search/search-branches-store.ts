import { type SqlBool, sql } from 'kysely'
import type { Viewer } from '#features/relations/index.ts'
import type { Dialect } from '#infra/db/index.ts'
import type { ActionFilter } from '../feed/action-filter.ts'
import type { Condition, FeedBranch, Value } from '../feed/branch-pages-store.ts'
import { residual, timeConditions } from '../feed/feed-filter-predicate.ts'
import { liveGroups, unlistedGroups } from '../feed/feed-status-predicate.ts'
import { isFound } from './search-query-store.ts'

/** A search reads its matches once, through the search index, which applies the filters as well. They are checked again
 * on each row, because two names may have the same mark in the index. */
export function searchBranches(
  viewer: Viewer,
  filter: ActionFilter,
  {
    value,
    dialect,
    shared,
  }: { readonly value: Value; readonly dialect: Dialect; readonly shared: readonly Condition[] },
): FeedBranch[] {
  const groups = [...liveGroups(viewer, filter, value), ...unlistedGroups(viewer, filter, value)]
  if (groups.length === 0) return []
  const isShown = sql<SqlBool>`(${sql.join(
    groups.map((group) => sql`(${sql.join(group, sql` and `)})`),
    sql` or `,
  )})`
  const from = dialect === 'sqlite' ? 'matches' : 'actions'
  const asked = [...residual(filter, value), ...shared, ...timeConditions(from, filter, value)]
  return [{ from, conditions: [isFound(dialect, value), isShown, ...asked] }]
}
