import { type SqlBool, sql } from 'kysely'
import type { Viewer } from '#features/relations/index.ts'
import { type ActionFilter, isVisitor } from './action-filter.ts'
import type { Condition, FeedBranch, Value } from './branch-pages-store.ts'
import { hasSeveral, isRecipient, residual } from './feed-filter-predicate.ts'
import { isLiveStatus, isOnPage } from './feed-status-predicate.ts'

// The same text as in the indexes: SQLite recognizes a partial index by its text.
const isFeedOnly = sql<SqlBool>`a.feed_only = 1`

/** A filter that has an index. */
export type DrivingFilter = (typeof drivingFilters)[number]
export const drivingFilters = ['tag', 'issuer', 'audience', 'involved', 'types'] as const

/** `all`: everything that the tenant holds. `page`: what visitors of a person see. `public`: what guests see. Each has
 * indexes of its own. */
type Shown = 'all' | 'page' | 'public'

export function shownTo(viewer: Viewer): Shown {
  if (viewer.idTag === undefined) return 'public'
  return isVisitor(viewer) ? 'page' : 'all'
}

/** What one filter finds of what the viewer may see, in branches of one index each. */
export function startsBy(
  viewer: Viewer,
  filter: ActionFilter,
  { value, driver }: { readonly value: Value; readonly driver: DrivingFilter },
): FeedBranch[] {
  const shown = shownTo(viewer)
  const starts = startsOf(filter, { value, driver, shown })
  return shown === 'page' ? starts.map((start) => withOthers(start, [isOnPage])) : starts
}

function startsOf(
  filter: ActionFilter,
  { value, driver, shown }: { readonly value: Value; readonly driver: DrivingFilter; readonly shown: Shown },
): FeedBranch[] {
  switch (driver) {
    case 'tag':
      return [{ from: 'tags', conditions: [hasTag(value), ...tagShown[shown]] }]
    case 'issuer':
      return [{ from: 'actions', conditions: [sql<SqlBool>`a.issuer_tag = ${value('issuer')}`] }]
    case 'audience':
      return addressed(value, 'audience', shown)
    case 'involved':
      return involving(value, 'involved', shown)
    case 'types':
      return shown === 'page'
        ? [{ from: 'actions', conditions: residual(filter, value) }]
        : ofTypes(filter, value)
  }
}

const tagShown: Record<Shown, Condition[]> = {
  all: [],
  page: [sql<SqlBool>`t.feed_only = 0`],
  public: [sql<SqlBool>`t.is_public = 1`],
}

function ofTypes({ types = [] }: ActionFilter, value: Value): FeedBranch[] {
  if (types.length === 0) return [{ from: 'actions', conditions: [sql<SqlBool>`false`] }]
  return types.map((_, at) => ({ from: 'actions', conditions: [sql`a.type = ${value(`type${at}`)}`] }))
}

type TagName = 'audience' | 'involved' | 'viewerTag'

function addressed(value: Value, name: TagName, shown: Shown): FeedBranch[] {
  const tag = value(name)
  const first: FeedBranch = { from: 'actions', conditions: [sql<SqlBool>`a.audience_tag = ${tag}`] }
  // Few actions with several addressees are public: an index of their own serves them.
  if (shown === 'public') return [first, { from: 'actions', conditions: [hasSeveral, isRecipient(tag)] }]
  const isNamed = sql<SqlBool>`(r.tenant_id = ${value('tenantId')} and r.id_tag = ${tag})`
  const isShown = shown === 'page' ? [sql<SqlBool>`r.feed_only = 0`] : []
  return [first, { from: 'recipients', conditions: [isNamed, ...isShown] }]
}

function involving(value: Value, name: TagName, shown: Shown): FeedBranch[] {
  const tag = value(name)
  const isOthers = sql<SqlBool>`a.issuer_tag <> ${tag}`
  const isAbout = sql<SqlBool>`a.subject = ${tag}`
  const isAboutOthers = sql<SqlBool>`coalesce(a.subject, '') <> ${tag}`
  // Guests' lists ask for status A; the index is found only by its own condition on the status.
  const isInIndex = shown === 'public' ? [isLiveStatus] : []
  return [
    { from: 'actions', conditions: [sql<SqlBool>`a.issuer_tag = ${tag}`] },
    { from: 'actions', conditions: [isAbout, isOthers, ...isInIndex] },
    ...addressed(value, name, shown).map((start) => withOthers(start, [isOthers, isAboutOthers])),
  ]
}

/** What visitors of a person see although the page does not show it: what they issued, what is addressed to them, and
 * what is about them and has no visibility. */
export function toldStarts(value: Value): FeedBranch[] {
  const tag = value('viewerTag')
  const isOthers = sql<SqlBool>`a.issuer_tag <> ${tag}`
  const isAbout = sql<SqlBool>`a.subject = ${tag} and a.visibility is null`
  const isNotAbout = sql<SqlBool>`(coalesce(a.subject, '') <> ${tag} or a.visibility is not null)`
  const isNamed = sql<SqlBool>`(r.tenant_id = ${value('tenantId')} and r.id_tag = ${tag} and r.feed_only = 1)`
  const starts: FeedBranch[] = [
    { from: 'actions', conditions: [sql<SqlBool>`a.issuer_tag = ${tag}`] },
    { from: 'actions', conditions: [isAbout, isOthers] },
    { from: 'actions', conditions: [sql<SqlBool>`a.audience_tag = ${tag}`, isOthers, isNotAbout] },
    { from: 'recipients', conditions: [isNamed, isOthers, isNotAbout] },
  ]
  return starts.map((start) => withOthers(start, [isFeedOnly]))
}

/** Everything in one branch, through the index of tags when the list asks for a tag. */
export function unsplit(filter: ActionFilter, value: Value, shown: Shown = 'all'): FeedBranch {
  const others = residual({ ...filter, tag: undefined }, value)
  return filter.tag === undefined
    ? { from: 'actions', conditions: others }
    : { from: 'tags', conditions: [hasTag(value), ...tagShown[shown], ...others] }
}

export function withOthers({ from, conditions }: FeedBranch, others: readonly Condition[]): FeedBranch {
  return { from, conditions: [...conditions, ...others] }
}

function hasTag(value: Value): Condition {
  return sql<SqlBool>`(t.tenant_id = ${value('tenantId')} and t.tag = ${value('tag')})`
}
