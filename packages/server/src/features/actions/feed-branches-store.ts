import type { Expression } from 'kysely'
import { type SqlBool, sql } from 'kysely'
import { isReadableBy, type Viewer } from '#features/visibility/index.ts'
import type { Dialect } from '#infra/db/index.ts'
import type { ActionFilter } from './action-filter.ts'
import type { Condition, FeedBranch, Value } from './branch-pages-store.ts'
import {
  hasSeveral,
  isRecipient,
  plainConditions,
  residual,
  timeConditions,
} from './feed-filter-predicate.ts'
import { isOnPage, liveGroups, unlistedGroups } from './feed-status-predicate.ts'
import { searchBranches } from './search-branches-store.ts'

// Word for word as in the indexes: SQLite recognizes a partial index by its text.
const isFeedOnly = sql<SqlBool>`a.feed_only = 1`

/** The branches of a list; none when the viewer is shown nothing of the statuses asked for. A condition that no single index
 * serves is split, so that finding nothing costs nothing. */
export function listBranches(
  viewer: Viewer,
  filter: ActionFilter,
  {
    value,
    dialect,
    lead = leadsOf(filter)[0],
  }: { readonly value: Value; readonly dialect: Dialect; readonly lead?: Lead | undefined },
): FeedBranch[] {
  const shared = [
    isReadableBy(viewer, 'a', {
      viewerTag: value('viewerTag') as Expression<string>,
      tenantTag: value('tenantTag') as Expression<string>,
    }),
    ...plainConditions(viewer, filter, value),
  ]
  if (filter.search !== undefined) return searchBranches(viewer, filter, { value, dialect, shared })
  const live = liveGroups(viewer, filter, value).flatMap((group) =>
    liveStarts(viewer, filter, { value, lead }).map((start) => ({ group, start })),
  )
  const unlisted = unlistedGroups(viewer, filter, value).map((group) => ({
    group,
    start: unsplit(filter, value),
  }))
  return [...live, ...unlisted].map(({ group, start: { from, conditions } }) => ({
    from,
    conditions: [...conditions, ...group, ...shared, ...timeConditions(from, filter, value)],
  }))
}

/** A filter that has an index. */
export type Lead = (typeof leads)[number]
const leads = ['tag', 'issuer', 'audience', 'involved', 'types'] as const

/** The filters by which the branches of a list may start; none where it is about one thing, or has few rows anyway. */
export function leadsOf(filter: ActionFilter): readonly Lead[] {
  return isNarrow(filter) ? [] : leads.filter((lead) => filter[lead] !== undefined)
}

function isNarrow({ parentId, rootId, subject, actionIds, search }: ActionFilter): boolean {
  return [parentId, rootId, subject, actionIds, search].some((given) => given !== undefined)
}

/** The published actions that one filter of a list finds, before anything else is asked. */
export function leadBranches(viewer: Viewer, filter: ActionFilter, value: Value, lead: Lead): FeedBranch[] {
  const isPublic = viewer.idTag === undefined ? [sql<SqlBool>`a.visibility = 'P'`] : []
  return liveGroups(viewer, filter, value).flatMap((group) =>
    startsBy(viewer, filter, { value, lead }).map((start) => withOthers(start, [...group, ...isPublic])),
  )
}

/** Where the branches of published actions start. What the leading filter leaves is looked through for the others. */
function liveStarts(
  viewer: Viewer,
  filter: ActionFilter,
  { value, lead }: { readonly value: Value; readonly lead: Lead | undefined },
): FeedBranch[] {
  if (visitsPage(viewer, filter, lead)) return pageStarts(filter, value)
  if (lead === undefined) return [unsplit(filter, value)]
  const others = residual({ ...filter, [lead]: undefined }, value)
  return startsBy(viewer, filter, { value, lead }).map((start) => withOthers(start, others))
}

/** Visitors who look at all that a person shows, or at some types of it, have two places to look at: the page, and what they
 * said or were told themselves. */
function visitsPage({ idTag, facts }: Viewer, filter: ActionFilter, lead: Lead | undefined): boolean {
  if (idTag === undefined || facts.has('acts-as-tenant') || facts.has('community')) return false
  return lead === 'types' || (lead === undefined && !isNarrow(filter))
}

function pageStarts(filter: ActionFilter, value: Value): FeedBranch[] {
  const others = residual(filter, value)
  return [
    { from: 'actions', conditions: [isOnPage, ...others] },
    ...involving(value, 'viewerTag').map((start) => withOthers(start, [isFeedOnly, ...others])),
  ]
}

function startsBy(
  viewer: Viewer,
  { types = [] }: ActionFilter,
  { value, lead }: { readonly value: Value; readonly lead: Lead },
): FeedBranch[] {
  switch (lead) {
    case 'tag':
      return [{ from: 'tags', conditions: [hasTag(value)] }]
    case 'issuer':
      return [{ from: 'actions', conditions: [sql<SqlBool>`a.issuer_tag = ${value('issuer')}`] }]
    case 'audience':
      return viewer.idTag === undefined ? publicTo(value, 'audience') : addressed(value, 'audience')
    case 'involved':
      return involving(value, 'involved', viewer.idTag === undefined)
    case 'types':
      return types.length === 0
        ? [{ from: 'actions', conditions: [sql<SqlBool>`false`] }]
        : types.map((_, at) => ({ from: 'actions', conditions: [sql`a.type = ${value(`type${at}`)}`] }))
  }
}

function withOthers({ from, conditions }: FeedBranch, others: readonly Condition[]): FeedBranch {
  return { from, conditions: [...conditions, ...others] }
}

type TagName = 'audience' | 'involved' | 'viewerTag'

function addressed(value: Value, name: TagName): FeedBranch[] {
  const tag = value(name)
  return [
    { from: 'actions', conditions: [sql<SqlBool>`a.audience_tag = ${tag}`] },
    {
      from: 'recipients',
      conditions: [sql<SqlBool>`(r.tenant_id = ${value('tenantId')} and r.id_tag = ${tag})`],
    },
  ]
}

/** Few of what several are addressed by are public: they have an index of their own. */
function publicTo(value: Value, name: TagName): FeedBranch[] {
  const tag = value(name)
  return [
    { from: 'actions', conditions: [sql<SqlBool>`a.audience_tag = ${tag}`] },
    { from: 'actions', conditions: [hasSeveral, isRecipient(tag)] },
  ]
}

function involving(value: Value, name: TagName, isPublic = false): FeedBranch[] {
  const tag = value(name)
  const isOthers = sql<SqlBool>`a.issuer_tag <> ${tag}`
  const isAbout = sql<SqlBool>`a.subject = ${tag}`
  const isAboutOthers = sql<SqlBool>`coalesce(a.subject, '') <> ${tag}`
  return [
    { from: 'actions', conditions: [sql<SqlBool>`a.issuer_tag = ${tag}`] },
    { from: 'actions', conditions: [isAbout, isOthers] },
    ...(isPublic ? publicTo(value, name) : addressed(value, name)).map((start) =>
      withOthers(start, [isOthers, isAboutOthers]),
    ),
  ]
}

/** All in one branch: through the index of tags where a tag is asked for. */
function unsplit(filter: ActionFilter, value: Value): FeedBranch {
  const others = residual({ ...filter, tag: undefined }, value)
  return filter.tag === undefined
    ? { from: 'actions', conditions: others }
    : { from: 'tags', conditions: [hasTag(value), ...others] }
}

function hasTag(value: Value): Condition {
  return sql<SqlBool>`(t.tenant_id = ${value('tenantId')} and t.tag = ${value('tag')})`
}
