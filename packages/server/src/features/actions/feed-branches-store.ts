import { type Expression, type SqlBool, sql } from 'kysely'
import { isReadableBy, type Viewer } from '#features/visibility/index.ts'
import { type Dialect, serverTenant } from '#infra/db/index.ts'
import { type ActionFilter, type ActionOrder, visibleStatuses } from './action-filter.ts'
import { comparePlace, isFound, matchOrder, matchSource, matchTime } from './search-store.ts'

export type Value = (name: string) => Expression<string | number>
export type Condition = Expression<SqlBool>

/** A part of a list that is read through one index, in the order of the list. No action is in two of them. */
export interface FeedBranch {
  readonly from: Source
  readonly conditions: readonly Condition[]
}

/** The actions; those with a tag, as `t`; those addressed to somebody besides their `audience_tag`, as `r`; on SQLite
 * those with the words of a search, as `w`. */
type Source = 'actions' | 'tags' | 'recipients' | 'matches'

// Word for word as in the indexes: SQLite recognizes a partial index by its text.
const isLiveStatus = sql<SqlBool>`a.status in ('A', 'C')`
const isUnlisted = sql<SqlBool>`a.status in ('R', 'S', 'D', 'P')`
// What visitors may be shown, but for what they said or were told themselves.
const isOnPage = sql<SqlBool>`a.feed_only = 0`
const isFeedOnly = sql<SqlBool>`a.feed_only = 1`
const hasSeveral = sql<SqlBool>`a.audience is not null`

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

/** What a search finds is read once, through the index of words, which narrows by the filters as well; they are asked again
 * since two names may have one mark there. */
function searchBranches(
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

/** Published actions that have not expired, `C` and marked ones (`N`) apart where `A` is not asked for. */
function liveGroups(viewer: Viewer, filter: ActionFilter, value: Value): Condition[][] {
  const isUnexpired = sql<SqlBool>`(a.expires_at is null or a.expires_at > ${value('now')})`
  const asked = new Set(visibleStatuses(viewer, filter.statuses).any)
  const isActive = sql<SqlBool>`a.status = 'A'`
  // The indexes of what is public are of status A alone.
  if (viewer.idTag === undefined) return asked.has('A') ? [[isActive, isOnPage, isUnexpired]] : []
  const group = (...conditions: Condition[]) => [...conditions, isLiveStatus, isUnexpired]
  if (asked.has('A')) return [asked.has('C') ? group() : group(isActive)]
  const isNew = sql<SqlBool>`a.marked = 1`
  return [
    ...(asked.has('C') ? [group(sql<SqlBool>`a.status = 'C'`)] : []),
    ...(asked.has('N') ? [asked.has('C') ? group(isNew, isActive) : group(isNew)] : []),
  ]
}

/** What is still verified, for the tenant; drafts, scheduled and deleted actions, for their issuer. */
function unlistedGroups(viewer: Viewer, filter: ActionFilter, value: Value): Condition[][] {
  const { any, own } = visibleStatuses(viewer, filter.statuses)
  const isOwn = viewer.facts.has('acts-as-tenant')
    ? sql<SqlBool>`a.issuer_tag = ${value('tenantTag')}`
    : sql<SqlBool>`a.author_tag = ${value('viewerTag')}`
  return [
    ...(any.includes('P') ? [[sql<SqlBool>`a.status = 'P'`, isUnlisted]] : []),
    ...own.map((status) => [sql<SqlBool>`a.status = ${sql.lit(status)}`, isUnlisted, isOwn]),
  ]
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

/** Filters that are looked through: in words that make no database think of an index. */
function residual({ types, issuer, audience, involved, tag }: ActionFilter, value: Value): Condition[] {
  const conditions: (Condition | false)[] = [
    types !== undefined && isAmong(sql`coalesce(a.type, '')`, valuesOf('type', types, value)),
    issuer !== undefined && sql<SqlBool>`coalesce(a.issuer_tag, '') = ${value('issuer')}`,
    audience !== undefined && isAddressedTo(value('audience')),
    involved !== undefined &&
      sql<SqlBool>`(coalesce(a.issuer_tag, '') = ${value('involved')}
        or coalesce(a.subject, '') = ${value('involved')} or ${isAddressedTo(value('involved'))})`,
    tag !== undefined &&
      sql<SqlBool>`exists (select 1 from action_tags as t where t.tenant_id = a.tenant_id
        and t.action_id = a.action_id and t.tag = ${value('tag')})`,
  ]
  return conditions.filter((condition) => condition !== false)
}

/** Conditions that are the same in every branch. */
function plainConditions(viewer: Viewer, filter: ActionFilter, value: Value): Condition[] {
  const { parentId, rootId, subject, actionIds } = filter
  const conditions: (Condition | false)[] = [
    parentId !== undefined && sql<SqlBool>`a.parent_id = ${value('parentId')}`,
    rootId !== undefined && sql<SqlBool>`a.root_id = ${value('rootId')}`,
    subject !== undefined && sql<SqlBool>`a.subject = ${value('subject')}`,
    actionIds !== undefined && isAmong(sql`a.action_id`, valuesOf('action_id', actionIds, value)),
    ...(filter.excludeOwn ? exceptOwn(viewer, value) : []),
    hidesMuted(viewer, filter) && isNotMuted(value),
  ]
  return conditions.filter((condition) => condition !== false)
}

function timeConditions(
  from: Source,
  { createdAfter, createdBefore }: ActionFilter,
  value: Value,
): Condition[] {
  const time = timeOf(from)
  if (from === 'matches') return matchTimeConditions({ createdAfter, createdBefore }, value)
  return [
    ...(createdAfter === undefined ? [] : [sql<SqlBool>`${time} > ${value('createdAfter')}`]),
    ...(createdBefore === undefined ? [] : [sql<SqlBool>`${time} < ${value('createdBefore')}`]),
  ]
}

/** In the index of words, times are a range of places. */
function matchTimeConditions(
  { createdAfter, createdBefore }: Pick<ActionFilter, 'createdAfter' | 'createdBefore'>,
  value: Value,
): Condition[] {
  const next = sql`${value('createdAfter')} + 1`
  const first = sql.lit(0)
  return [
    ...(createdAfter === undefined ? [] : [comparePlace('>', { createdAt: next, seq: first })]),
    ...(createdBefore === undefined
      ? []
      : [comparePlace('<', { createdAt: value('createdBefore'), seq: first })]),
  ]
}

function valuesOf(name: 'type' | 'action_id', words: readonly string[], value: Value) {
  return words.map((_, at) => value(`${name}${at}`))
}

function isAmong(it: Expression<unknown>, values: readonly Expression<unknown>[]): Condition {
  if (values.length === 0) return sql<SqlBool>`false`
  return values.length === 1
    ? sql<SqlBool>`${it} = ${values[0]}`
    : sql<SqlBool>`${it} in (${sql.join(values)})`
}

function isAddressedTo(tag: Expression<unknown>): Condition {
  return sql<SqlBool>`(coalesce(a.audience_tag, '') = ${tag} or (${hasSeveral} and ${isRecipient(tag)}))`
}

function isRecipient(tag: Expression<unknown>): Condition {
  return sql<SqlBool>`exists (select 1 from action_recipients as r where r.tenant_id = a.tenant_id
    and r.action_id = a.action_id and r.id_tag = ${tag})`
}

function exceptOwn(viewer: Viewer, value: Value): Condition[] {
  if (viewer.idTag === undefined) return []
  const byTenant = viewer.facts.has('acts-as-tenant')
    ? [sql<SqlBool>`a.issuer_tag <> ${value('tenantTag')}`]
    : []
  return [sql<SqlBool>`a.issuer_tag <> ${value('viewerTag')}`, ...byTenant]
}

/** Muting is the tenant's own affair: others do not learn of it from what is missing. In a community it is for all but the
 * muted themselves. */
function hidesMuted(viewer: Viewer, filter: ActionFilter): boolean {
  return viewer.facts.has('hushes') && filter.issuer === undefined
}

function isNotMuted(value: Value): Condition {
  return sql<SqlBool>`(a.issuer_tag in (${value('tenantTag')}, ${value('viewerTag')}) or not exists (
    select 1 from relations as m where m.tenant_id in (a.tenant_id, ${sql.lit(serverTenant)})
    and m.id_tag = a.issuer_tag and m.is_hushed = 1 and m.muted = 1))`
}

const times: Record<Source, string> = {
  actions: 'a.created_at',
  tags: 't.created_at',
  recipients: 'r.created_at',
  matches: matchTime,
}

/** What a branch is ordered by: the time in the table through whose index it is read. */
export function timeOf(from: Source): Expression<number> {
  return sql.raw<number>(times[from])
}

/** Condition: stands behind the end of the page before, in the order of the list. */
export function isBeyond(from: Source, { direction }: ActionOrder, value: Value): Condition {
  const compare = sql.raw(direction === 'desc' ? '<' : '>')
  if (from === 'matches')
    return comparePlace(direction === 'desc' ? '<' : '>', {
      createdAt: value('placeAt'),
      seq: value('placeSeq'),
    })
  const isAfter = sql<SqlBool>`(${timeOf(from)}, a.seq) ${compare} (${value('placeAt')}, ${value('placeSeq')})`
  if (from === 'actions') return isAfter
  // Columns of two tables are not compared through an index.
  return sql<SqlBool>`(${timeOf(from)} ${compare}= ${value('placeAt')} and ${isAfter})`
}

// SQLite keeps to the order of a `cross join`.
const sources: Record<Source, string> = {
  actions: 'actions as a where',
  tags: `action_tags as t cross join actions as a
    where a.tenant_id = t.tenant_id and a.action_id = t.action_id and`,
  recipients: `action_recipients as r cross join actions as a
    where a.tenant_id = r.tenant_id and a.action_id = r.action_id and`,
  matches: matchSource,
}

/** The times and numbers of a list's actions, a page of them. The branches have the order of the list already: SQLite merges
 * them as far as it has to; PostgreSQL would read all of them and sort, so there each gives no more than the page can take. */
export function pageOf(
  branches: readonly FeedBranch[],
  order: ActionOrder,
  { value, dialect }: { readonly value: Value; readonly dialect: Dialect },
): Expression<unknown> {
  const direction = sql.raw(order.direction)
  const inOrder = branches.some(({ from }) => from === 'matches')
    ? sql`order by ${sql.raw(matchOrder)} ${direction}`
    : sql`order by created_at ${direction}, seq ${direction}`
  const selects = branches.map((branch) => {
    const select = selectFrom(branch, value, sql`${timeOf(branch.from)} as created_at, a.seq as seq`)
    const own = sql`${timeOf(branch.from)} ${direction}, a.seq ${direction}`
    const isCut = dialect === 'postgres' && branches.length > 1
    return isCut ? sql`(${select} order by ${own} limit ${value('reach')})` : select
  })
  const offset = order.offset === undefined ? sql`` : sql` offset ${value('offset')}`
  return sql`${sql.join(selects, sql` union all `)} ${inOrder} limit ${value('limit')}${offset}`
}

/** A row for each action of a list. */
export function rowsOf(branches: readonly FeedBranch[], value: Value): Expression<unknown> {
  const selects = branches.map((branch) => selectFrom(branch, value, sql`1 as one`))
  return sql.join(selects, sql` union all `)
}

function selectFrom({ from, conditions }: FeedBranch, value: Value, columns: Expression<unknown>) {
  const all = [sql<SqlBool>`a.tenant_id = ${value('tenantId')}`, ...conditions]
  return sql`select ${columns} from ${sql.raw(sources[from])} ${sql.join(all, sql` and `)}`
}
