import { type Expression, type SqlBool, sql } from 'kysely'
import { isReadableBy, type Viewer } from '#features/visibility/index.ts'
import { type Dialect, type Reader, type ReadTables, serverTenant } from '#infra/db/index.ts'
import { type ActionFilter, type ActionOrder, visibleStatuses } from './action-filter.ts'
import type { ActionTables } from './action-tables.ts'
import { hasWords, searchQuery } from './search-store.ts'

export interface FeedTables extends ActionTables {
  profiles: { id_tag: string; name: string; profile_pic: string | null }
  action_reads: { tenant_id: number; action_id: string; reader_tag: string; comments: number }
}

/** An action as it is shown, with its issuer and what the viewer did with it, in one row. */
export interface FeedRow {
  seq: number
  action_id: string
  type: string
  sub_type: string | null
  parent_id: string | null
  root_id: string | null
  issuer_tag: string
  author_tag: string | null
  audience_tag: string | null
  audience: string | null
  content: string | null
  attachments: string | null
  subject: string | null
  expires_at: number | null
  published_at: number | null
  visibility: string | null
  flags: string | null
  x: string | null
  status: string
  created_at: number
  marked: number
  reactions: number
  comments: number
  views: number
  shares: number
  issuer_name: string | null
  issuer_pic: string | null
  own_reaction: string | null
  comments_read: number | null
}

/** What the placeholders of a query stand for. */
export type FeedValues = Record<string, string | number>
type Value = (name: string) => Expression<string | number>
type Condition = Expression<SqlBool>

const columns = [
  'a.seq',
  'a.action_id',
  'a.type',
  'a.sub_type',
  'a.parent_id',
  'a.root_id',
  'a.issuer_tag',
  'a.author_tag',
  'a.audience_tag',
  'a.audience',
  'a.content',
  'a.attachments',
  'a.subject',
  'a.expires_at',
  'a.published_at',
  'a.visibility',
  'a.flags',
  'a.x',
  'a.status',
  'a.created_at',
  'a.marked',
  'a.reactions',
  'a.comments',
  'a.views',
  'a.shares',
  'p.name as issuer_name',
  'p.profile_pic as issuer_pic',
] as const

// Word for word as in the indexes: SQLite recognizes a partial index by its text.
const isLiveStatus = sql<SqlBool>`a.status in ('A', 'C')`

/** Actions with what is shown beside them, without order. */
export function shownActions(
  tables: Pick<ReadTables<FeedTables>, 'selectFrom'>,
  viewer: Viewer,
  value: Value,
) {
  const isSomebody = viewer.idTag !== undefined
  return tables
    .selectFrom('actions as a')
    .leftJoin('profiles as p', 'p.id_tag', 'a.issuer_tag')
    .select(columns)
    .select(isSomebody ? ownReaction(value) : sql<string | null>`null`.as('own_reaction'))
    .select(isSomebody ? commentsRead(value) : sql<number | null>`null`.as('comments_read'))
    .where(sql<SqlBool>`a.tenant_id = ${value('tenantId')}`)
}

function ownReaction(value: Value) {
  return sql<string | null>`(select o.sub_type from actions as o where o.tenant_id = a.tenant_id
    and o.issuer_tag = ${value('viewerTag')} and o.unique_key = 'REACT ' || a.action_id
    and o.unique_key is not null and o.status in ('A', 'C'))`.as('own_reaction')
}

function commentsRead(value: Value) {
  return sql<number | null>`(select r.comments from action_reads as r where r.tenant_id = a.tenant_id
    and r.action_id = a.action_id and r.reader_tag = ${value('viewerTag')})`.as('comments_read')
}

/** The conditions of a list; undefined when the viewer is shown nothing of the statuses asked for. */
export function listConditions(
  viewer: Viewer,
  filter: ActionFilter,
  { value, dialect }: { readonly value: Value; readonly dialect: Dialect },
): Condition[] | undefined {
  const statuses = statusConditions(viewer, filter, value)
  if (!statuses) return undefined
  const { search } = filter
  return [
    ...statuses,
    ...(search === undefined ? [] : [hasWords(dialect, value)]),
    isReadableBy(viewer, 'a', {
      viewerTag: value('viewerTag') as Expression<string>,
      tenantTag: value('tenantTag') as Expression<string>,
    }),
    ...filterConditions(viewer, filter, value),
  ]
}

function statusConditions(viewer: Viewer, filter: ActionFilter, value: Value): Condition[] | undefined {
  const { any, own } = visibleStatuses(viewer, filter.statuses)
  const groups = [
    liveConditions(any, value),
    pendingConditions(any),
    ownConditions(viewer, own, value),
  ].filter((group) => group !== undefined)
  const [only, another] = groups
  if (!only || !another) return only
  return [sql<SqlBool>`(${sql.join(groups.map(conjunction), sql` or `)})`]
}

/** Published actions that have not expired: `C` and, where `A` is not asked for, `N` marks among them. */
function liveConditions(asked: readonly string[], value: Value): Condition[] | undefined {
  const isUnexpired = sql<SqlBool>`(a.expires_at is null or a.expires_at > ${value('now')})`
  const kinds = [
    asked.includes('A') ? sql<SqlBool>`a.status = 'A'` : undefined,
    asked.includes('C') ? sql<SqlBool>`a.status = 'C'` : undefined,
    asked.includes('N') && !asked.includes('A') ? sql<SqlBool>`a.marked = 1` : undefined,
  ].filter((kind) => kind !== undefined)
  const [only, another] = kinds
  if (!only) return undefined
  if (asked.includes('A') && asked.includes('C')) return [isLiveStatus, isUnexpired]
  const isOneOf = another ? sql<SqlBool>`(${sql.join(kinds, sql` or `)})` : only
  return [isOneOf, isLiveStatus, isUnexpired]
}

const isUnlisted = sql<SqlBool>`a.status in ('R', 'S', 'D', 'P')`

function pendingConditions(asked: readonly string[]): Condition[] | undefined {
  return asked.includes('P') ? [sql<SqlBool>`a.status = 'P'`, isUnlisted] : undefined
}

/** Drafts, scheduled and deleted actions, for their issuer. */
function ownConditions(viewer: Viewer, asked: readonly string[], value: Value): Condition[] | undefined {
  if (asked.length === 0) return undefined
  const isOwn = viewer.facts.has('acts-as-tenant')
    ? sql<SqlBool>`a.issuer_tag = ${value('tenantTag')}`
    : sql<SqlBool>`coalesce(a.author_tag, '') = ${value('viewerTag')}`
  const statuses = sql.join(asked.map((status) => sql.lit(status)))
  return [
    asked.length === 1 ? sql<SqlBool>`a.status = ${statuses}` : sql<SqlBool>`a.status in (${statuses})`,
    isUnlisted,
    isOwn,
  ]
}

function filterConditions(viewer: Viewer, filter: ActionFilter, value: Value): Condition[] {
  const { types, issuer, audience, involved, parentId, rootId, subject, actionIds, tag } = filter
  const time = timeOf(filter)
  const conditions: (Condition | false)[] = [
    types !== undefined && isAmong('type', types.length, value),
    issuer !== undefined && sql<SqlBool>`a.issuer_tag = ${value('issuer')}`,
    audience !== undefined && isAddressedTo(value('audience')),
    involved !== undefined &&
      sql<SqlBool>`(a.issuer_tag = ${value('involved')} or coalesce(a.subject, '') = ${value('involved')}
        or ${isAddressedTo(value('involved'))})`,
    parentId !== undefined && sql<SqlBool>`a.parent_id = ${value('parentId')}`,
    rootId !== undefined && sql<SqlBool>`a.root_id = ${value('rootId')}`,
    subject !== undefined && sql<SqlBool>`a.subject = ${value('subject')}`,
    actionIds !== undefined && isAmong('action_id', actionIds.length, value),
    tag !== undefined && sql<SqlBool>`(t.tenant_id = ${value('tenantId')} and t.tag = ${value('tag')})`,
    filter.createdAfter !== undefined && sql<SqlBool>`${time} > ${value('createdAfter')}`,
    filter.createdBefore !== undefined && sql<SqlBool>`${time} < ${value('createdBefore')}`,
    ...(filter.excludeOwn ? exceptOwn(viewer, value) : []),
    hidesMuted(viewer, filter) && isNotMuted(value),
  ]
  return conditions.filter((condition) => condition !== false)
}

function isAmong(column: 'type' | 'action_id', count: number, value: Value): Condition {
  if (count === 0) return sql<SqlBool>`false`
  const values = Array.from({ length: count }, (_, at) => value(`${column}${at}`))
  const it = sql.ref(`a.${column}`)
  return count === 1 ? sql<SqlBool>`${it} = ${values[0]}` : sql<SqlBool>`${it} in (${sql.join(values)})`
}

function isAddressedTo(tag: Expression<unknown>): Condition {
  return sql<SqlBool>`(coalesce(a.audience_tag, '') = ${tag} or (a.audience is not null and exists (
    select 1 from action_recipients as r where r.tenant_id = a.tenant_id and r.action_id = a.action_id
    and r.id_tag = ${tag})))`
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

/** What a list is ordered by: with a tag it is read through the index of the tags, under the alias `t`. */
export function timeOf({ tag }: ActionFilter): Expression<number> {
  return sql.ref<number>(tag === undefined ? 'a.created_at' : 't.created_at')
}

/** Condition: stands behind the end of the page before, in the order of the list. */
export function isBeyond(filter: ActionFilter, { direction }: ActionOrder, value: Value): Condition {
  const compare = sql.raw(direction === 'desc' ? '<' : '>')
  const isAfter = sql<SqlBool>`(${timeOf(filter)}, a.seq) ${compare} (${value('placeAt')}, ${value('placeSeq')})`
  if (filter.tag === undefined) return isAfter
  // Columns of two tables are not compared through an index.
  return sql<SqlBool>`(t.created_at ${compare}= ${value('placeAt')} and ${isAfter})`
}

export function conjunction(conditions: readonly Condition[]): Condition {
  return sql<SqlBool>`(${sql.join(conditions, sql` and `)})`
}

/** The values of a list's placeholders; more than a query uses do no harm. Undefined where nothing can be found. */
export function listValues(
  reader: Pick<Reader, 'tenantId' | 'dialect'>,
  { viewer, filter, now }: { readonly viewer: Viewer; readonly filter: ActionFilter; readonly now: number },
): FeedValues | undefined {
  const { types = [], actionIds = [], statuses: _, excludeOwn: __, search, ...named } = filter
  const words = search === undefined ? '' : searchQuery(reader, search)
  if (words === undefined) return undefined
  const given = Object.entries(named).filter(
    (entry): entry is [string, string | number] => entry[1] !== undefined,
  )
  return {
    tenantId: reader.tenantId,
    now,
    search: words,
    viewerTag: viewer.idTag ?? '',
    tenantTag: viewer.tenantTag,
    ...Object.fromEntries(given),
    ...Object.fromEntries(types.map((type, at) => [`type${at}`, type])),
    ...Object.fromEntries(actionIds.map((actionId, at) => [`action_id${at}`, actionId])),
  }
}
