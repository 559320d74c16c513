import { type Expression, type SqlBool, sql } from 'kysely'
import { isReadableBy, type Viewer } from '#features/relations/index.ts'
import type { Dialect } from '#infra/db/index.ts'
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
import { searchBranches } from './search-branches-store.ts'

/** The branches of a list; none when the viewer is shown nothing of the statuses asked for. A condition that no single index
 * serves is split, so that finding nothing costs nothing. */
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

/** The filters by which the branches of a list may start; none where it is about one thing, or has few rows anyway. */
export function drivingFiltersOf(viewer: Viewer, filter: ActionFilter): readonly DrivingFilter[] {
  if (isNarrow(filter)) return []
  const given = drivingFilters.filter((driver) => filter[driver] !== undefined)
  // Types of a person's page have no index of their own.
  return isVisitor(viewer) && given.length > 1 ? given.filter((driver) => driver !== 'types') : given
}

function isNarrow({ parentId, rootId, subject, actionIds, search }: ActionFilter): boolean {
  return [parentId, rootId, subject, actionIds, search].some((given) => given !== undefined)
}

/** The published actions that one filter of a list finds, before anything else is asked. */
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

/** Where the branches of published actions start. What the leading filter leaves is looked through for the others. */
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

/** One branch: the indexes of what is about one thing hold what visitors may be shown apart. */
function narrowStart(viewer: Viewer, filter: ActionFilter, value: Value): FeedBranch {
  const narrow = narrowConditions(filter, value)
  const isShown = seesPage(viewer, filter) ? [isOnPage] : []
  // Guests are asked for status A alone; these indexes know no other word for it.
  const isInIndex = viewer.idTag === undefined && narrow.length > 0 ? [isLiveStatus] : []
  const shown = filter.actionIds === undefined ? shownTo(viewer) : 'all'
  return withOthers(unsplit(filter, value, shown), [...narrow, ...isShown, ...isInIndex])
}

/** Is the list of what the page shows and of what the visitor was told, each by its indexes? Ids are looked up among all. */
function seesPage(viewer: Viewer, { actionIds }: ActionFilter): boolean {
  return isVisitor(viewer) && actionIds === undefined
}

/** What visitors said or were told themselves, and the page does not show. */
function told(filter: ActionFilter, value: Value): FeedBranch[] {
  const others = [...residual(filter, value), ...narrowResidual(filter, value)]
  return toldStarts(value).map((start) => withOthers(start, others))
}
