import { type Expression, type SqlBool, sql } from 'kysely'
import type { Viewer } from '#features/relations/index.ts'
import type { Reader, ReadTables } from '#infra/db/index.ts'
import type { ActionTables } from '../action-tables.ts'
import { searchQuery } from '../search/search-query-store.ts'
import type { ActionFilter } from './action-filter.ts'
import type { Value } from './branch-pages-store.ts'

export interface FeedTables extends ActionTables {
  profiles: { id_tag: string; name: string; profile_pic: string | null }
  action_reads: { tenant_id: number; action_id: string; reader_tag: string; comments: number }
}

/** An action as it is shown, with its issuer and the viewer's reaction and reads, in one row. */
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
  publish_at: number | null
  visibility: string | null
  flags: string | null
  x: string | null
  status: string
  created_at: number
  marked: number
  unverified: number
  mismatched: number
  reactions: number
  comments: number
  views: number
  shares: number
  issuer_name: string | null
  issuer_pic: string | null
  own_reaction: string | null
  comments_read: number | null
}

/** The values of a query's placeholders. */
export type FeedValues = Record<string, string | number>

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
  'a.publish_at',
  'a.visibility',
  'a.flags',
  'a.x',
  'a.status',
  'a.created_at',
  'a.marked',
  'a.unverified',
  'a.mismatched',
  'a.reactions',
  'a.comments',
  'a.views',
  'a.shares',
  'p.name as issuer_name',
  'p.profile_pic as issuer_pic',
] as const

type SelectFrom = Pick<ReadTables<FeedTables>, 'selectFrom'>

/** Actions with what is shown beside them, unordered. */
export function shownActions(tables: SelectFrom, viewer: Viewer, value: Value) {
  return withCompanions(selectActions(tables), viewer, value)
}

/** The same for the actions whose times and sequence numbers a subquery finds, as `k`. */
export function shownAmong(
  tables: SelectFrom,
  keys: Expression<unknown>,
  { viewer, value }: { readonly viewer: Viewer; readonly value: Value },
) {
  const found = sql<{ created_at: number; seq: number }>`(${keys})`.as('k')
  // SQLite keeps the order of a cross join: first the page, then its actions.
  const chosen = tables.selectFrom(found).crossJoin('actions as a').whereRef('a.seq', '=', 'k.seq')
  return withCompanions(chosen as unknown as ReturnType<typeof selectActions>, viewer, value)
}

function selectActions(tables: SelectFrom) {
  return tables.selectFrom('actions as a')
}

function withCompanions(actions: ReturnType<typeof selectActions>, viewer: Viewer, value: Value) {
  const isSomebody = viewer.idTag !== undefined
  return actions
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

/** The values of a list's placeholders; unused ones do no harm. Undefined when nothing can be found. */
export function listValues(
  reader: Pick<Reader, 'tenantId' | 'dialect'>,
  { viewer, filter, now }: { readonly viewer: Viewer; readonly filter: ActionFilter; readonly now: number },
): FeedValues | undefined {
  const { types = [], actionIds = [], statuses: _, excludeOwn: __, search, ...named } = filter
  const words = search === undefined ? '' : searchQuery(reader, { search, filter, viewer })
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
