import { type Expression, type SqlBool, sql } from 'kysely'
import { isReadableBy, type Viewer } from '#features/relations/index.ts'
import type { Dialect } from '#infra/db/index.ts'
import { searchBranches } from '../search/search-branches-store.ts'
import { type ActionFilter, isVisitor } from './action-filter.ts'
import type { FeedBranch, Value } from './branch-pages-store.ts'
import {
  narrowConditions,
  narrowResidual,
  plainConditions,
  residual,
  timeConditions,
} from './feed-filter-predicate.ts'
import {
  type DrivingFilter,
  drivingFilters,
  shownTo,
  startsBy,
  toldStarts,
  unsplit,
  withOthers,
} from './feed-starts-store.ts'
import { isLiveStatus, isOnPage, liveGroups, unlistedGroups } from './feed-status-predicate.ts'

/** The branches of a list; none when the viewer may see none of the requested statuses. A condition that no single
 * index serves is split into branches, so that an empty result costs nothing. */
export function listBranches(
  viewer: Viewer,
  filter: ActionFilter,
  {
    value,
    dialect,
    driver = drivingFiltersOf(viewer, filter)[0],
  }: { readonly value: Value; readonly dialect: Dialect; readonly driver?: DrivingFilter | undefined },
): FeedBranch[] {
  const readable = isReadableBy(viewer, 'a', {
    viewerTag: value('viewerTag') as Expression<string>,
    tenantTag: value('tenantTag') as Expression<string>,
  })
  const shared = [readable, ...plainConditions(viewer, filter, value)]
  const narrow = narrowConditions(filter, value)
  if (filter.search !== undefined)
    return searchBranches(viewer, filter, { value, dialect, shared: [...shared, ...narrow] })
  const live = liveGroups(viewer, filter, value).flatMap((group) =>
    liveStarts(viewer, filter, { value, driver }).map((start) => ({ group, start })),
  )
  const unlisted = unlistedGroups(viewer, filter, value).map((group) => ({
    group,
    start: withOthers(unsplit(filter, value), narrow),
  }))
  return [...live, ...unlisted].map(({ group, start: { from, conditions } }) => ({
    from,
    conditions: [...conditions, ...group, ...shared, ...timeConditions(from, filter, value)],
  }))
}

/** The filters whose index the branches of a list may be read through; none for a search, and none for lists about a
 * parent, a root, a subject or ids, which have few rows. */
export function drivingFiltersOf(viewer: Viewer, filter: ActionFilter): readonly DrivingFilter[] {
  if (isNarrow(filter)) return []
  const given = drivingFilters.filter((driver) => filter[driver] !== undefined)
  // A person's page has no index by type.
  return isVisitor(viewer) && given.length > 1 ? given.filter((driver) => driver !== 'types') : given
}

function isNarrow({ parentId, rootId, subject, actionIds, search }: ActionFilter): boolean {
  return [parentId, rootId, subject, actionIds, search].some((given) => given !== undefined)
}

/** The published actions that one filter finds, before the others apply. */
export function drivingBranches(
  viewer: Viewer,
  filter: ActionFilter,
  value: Value,
  driver: DrivingFilter,
): FeedBranch[] {
  const isPublic = viewer.idTag === undefined ? [sql<SqlBool>`a.visibility = 'P'`] : []
  return liveGroups(viewer, filter, value).flatMap((group) =>
    startsBy(viewer, filter, { value, driver }).map((start) => withOthers(start, [...group, ...isPublic])),
  )
}

/** The first parts of the branches of published actions: the rows that the leading filter finds are checked against the
 * other filters. */
function liveStarts(
  viewer: Viewer,
  filter: ActionFilter,
  { value, driver }: { readonly value: Value; readonly driver: DrivingFilter | undefined },
): FeedBranch[] {
  const starts = driver
    ? drivenStarts(viewer, filter, { value, driver })
    : [narrowStart(viewer, filter, value)]
  return seesPage(viewer, filter) ? [...starts, ...told(filter, value)] : starts
}

function drivenStarts(
  viewer: Viewer,
  filter: ActionFilter,
  { value, driver }: { readonly value: Value; readonly driver: DrivingFilter },
): FeedBranch[] {
  const others = residual({ ...filter, [driver]: undefined }, value)
  return startsBy(viewer, filter, { value, driver }).map((start) => withOthers(start, others))
}

/** A single branch. Of the indexes by parent, root and subject there are some for what visitors may see. */
function narrowStart(viewer: Viewer, filter: ActionFilter, value: Value): FeedBranch {
  const narrow = narrowConditions(filter, value)
  const isShown = seesPage(viewer, filter) ? [isOnPage] : []
  // Guests' lists ask for status A; these indexes are found only by their own condition on the status.
  const isInIndex = viewer.idTag === undefined && narrow.length > 0 ? [isLiveStatus] : []
  const shown = filter.actionIds === undefined ? shownTo(viewer) : 'all'
  return withOthers(unsplit(filter, value, shown), [...narrow, ...isShown, ...isInIndex])
}

/** Is the list split into what the page shows and what concerns the visitor, with an index for each? Ids are looked up
 * in all actions. */
function seesPage(viewer: Viewer, { actionIds }: ActionFilter): boolean {
  return isVisitor(viewer) && actionIds === undefined
}

/** What visitors issued or received themselves and the page does not show. */
function told(filter: ActionFilter, value: Value): FeedBranch[] {
  const others = [...residual(filter, value), ...narrowResidual(filter, value)]
  return toldStarts(value).map((start) => withOthers(start, others))
}
