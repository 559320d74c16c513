import type { ActionId } from '@kith/protocol'
import { type SqlBool, sql } from 'kysely'
import { isLive, isReadableBy, type ReadableTables, type Viewer } from '#features/relations/index.ts'
import type { Reader } from '#infra/db/index.ts'

interface HistoryTables extends ReadableTables {
  actions: ReadableTables['actions'] & {
    seq: number
    type: string
    sub_type: string | null
    root_id: string | null
    created_at: number
    issued_at: number
    token: string | null
  }
}

interface HistoryQuery {
  readonly viewer: Viewer
  /** Unix seconds. */
  readonly since: number
  readonly now: number
  readonly limit: number
}

/** An action in a history, with the tenant's announcement of it if another issued it. */
export interface HistoryRow {
  readonly actionId: ActionId
  readonly createdAt: number
  readonly seq: number
  readonly token: string
  readonly announcement: string | undefined
}

/** What the tenant has published, or announces as a community, and the viewer may read, newest first. Comments are
 * listed with their threads (`listComments`). */
export async function listPublished(reader: Reader, query: HistoryQuery): Promise<HistoryRow[]> {
  const own = await toRows(publishedBy(reader, query))
  const given = query.viewer.facts.has('community') ? await toRows(givenTo(reader, query)) : []
  return [...own, ...given].sort((one, other) => orderOf(other, one)).slice(0, query.limit)
}

/** The apps that the tenant offers and the viewer may read, newest first. */
export async function listOffers(reader: Reader, query: Asked): Promise<HistoryRow[]> {
  // So that the index by types is read, and not all that the tenant has issued.
  const offers = signedActions(reader, query)
    .where('a.type', '=', 'APKG')
    .where(sql<SqlBool>`a.issuer_tag || '' = ${query.viewer.tenantTag}`)
  return await toRows(newestOf(offers, query))
}

// For one thread; over all threads the caller keeps fewer.
const commentsPerThread = 20

/** The newest comments in these threads of the tenant that the viewer may read, oldest first: the tenant's own, and
 * others' that it has announced. */
export async function listComments(
  reader: Reader,
  query: Omit<HistoryQuery, 'since' | 'limit'> & { readonly rootIds: readonly ActionId[] },
): Promise<HistoryRow[]> {
  const threads = query.rootIds.map((rootId) => commentsUnder(reader, { ...query, rootId }))
  const [first, ...rest] = threads
  if (!first) return []
  // One statement, in which each thread costs no more than the comments that it gives.
  const all = rest.reduce((union, thread) => union.unionAll(thread), first)
  return (await toRows(all)).sort(orderOf)
}

function orderOf(one: HistoryRow, other: HistoryRow): number {
  return one.createdAt - other.createdAt || one.seq - other.seq
}

interface TokenRow {
  readonly action_id: string
  readonly created_at: number
  readonly seq: number
  readonly token: string | null
  readonly announcement: string | null
}

async function toRows(query: { execute(): Promise<TokenRow[]> }): Promise<HistoryRow[]> {
  return (await query.execute()).flatMap(({ action_id, created_at, seq, token, announcement }) =>
    token === null
      ? []
      : [
          {
            actionId: action_id as ActionId,
            createdAt: created_at,
            seq,
            token,
            announcement: announcement ?? undefined,
          },
        ],
  )
}

function publishedBy(reader: Reader, { since, ...query }: HistoryQuery) {
  const published = signedActions(reader, query)
    .where('a.issuer_tag', '=', query.viewer.tenantTag)
    .where('a.type', '<>', 'CMNT')
    .where('a.created_at', '>=', since)
  return newestOf(published, query)
}

type Asked = Omit<HistoryQuery, 'since'>

function signedActions(reader: Reader, { viewer, now }: Asked) {
  return (
    reader
      .tables<HistoryTables>()
      .selectFrom('actions as a')
      .select([
        'a.action_id',
        'a.created_at',
        'a.seq',
        'a.token',
        sql<string | null>`null`.as('announcement'),
      ])
      .where('a.tenant_id', '=', reader.tenantId)
      .where('a.token', 'is not', null)
      // An action signed for the next second may still be replaced.
      .where('a.issued_at', '<=', now)
      .where(isLive('a', sql<number>`${now}`))
      .where(isReadableBy(viewer, 'a'))
  )
}

function newestOf(actions: ReturnType<typeof signedActions>, { limit }: Asked) {
  return actions.orderBy('a.created_at', 'desc').orderBy('a.seq', 'desc').limit(limit)
}

/** What members posted to the community and it has announced, without comments, which belong to the threads. */
function givenTo(reader: Reader, { viewer, since, now, limit }: HistoryQuery) {
  return reader
    .tables<HistoryTables>()
    .selectFrom('actions as a')
    .innerJoin('actions as r', (join) =>
      join.onRef('r.tenant_id', '=', 'a.tenant_id').onRef('r.subject', '=', 'a.action_id'),
    )
    .select(['a.action_id', 'a.created_at', 'a.seq', 'a.token', 'r.token as announcement'])
    .where('a.tenant_id', '=', reader.tenantId)
    .where('a.created_at', '>=', since)
    .where('a.type', '<>', 'CMNT')
    .where('r.subject', 'is not', null)
    .where('r.type', '=', 'ANNC')
    .where('r.status', '=', 'T')
    .where('r.issuer_tag', '=', viewer.tenantTag)
    .where('r.sub_type', 'is', null)
    .where(isLive('a', sql<number>`${now}`))
    .where(isReadableBy(viewer, 'a'))
    .orderBy('a.created_at', 'desc')
    .orderBy('a.seq', 'desc')
    .limit(limit)
}

function commentsUnder(
  reader: Reader,
  { viewer, now, rootId }: { readonly viewer: Viewer; readonly now: number; readonly rootId: ActionId },
) {
  const tables = reader.tables<HistoryTables>()
  const newest = tables
    .selectFrom('actions as a')
    .leftJoin('actions as r', (join) =>
      join
        .onRef('r.tenant_id', '=', 'a.tenant_id')
        .onRef('r.subject', '=', 'a.action_id')
        .on('r.subject', 'is not', null)
        .on('r.type', '=', 'ANNC')
        .on('r.status', '=', 'T')
        .on('r.issuer_tag', '=', viewer.tenantTag)
        .on('r.sub_type', 'is', null),
    )
    .select(['a.action_id', 'a.created_at', 'a.seq', 'a.token', 'r.token as announcement'])
    .where('a.tenant_id', '=', reader.tenantId)
    .where('a.root_id', '=', rootId)
    .where('a.root_id', 'is not', null)
    .where('a.type', '=', 'CMNT')
    .where('a.token', 'is not', null)
    .where((eb) => eb.or([eb('a.issuer_tag', '=', viewer.tenantTag), eb('r.token', 'is not', null)]))
    .where(isLive('a', sql<number>`${now}`))
    .where(isReadableBy(viewer, 'a'))
    .orderBy('a.created_at', 'desc')
    .orderBy('a.seq', 'desc')
    .limit(commentsPerThread)
  return tables.selectFrom(newest.as('thread')).selectAll()
}
