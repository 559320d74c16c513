import type { ActionId } from '@kith/protocol'
import { type SqlBool, sql } from 'kysely'
import { isReadableBy, type Viewer, viewerShape } from '#features/relations/index.ts'
import { type Dialect, type Prepared, type Reader, statement } from '#infra/db/index.ts'
import type { ActionFilter, ActionOrder, ActionPlace } from './action-filter.ts'
import { type FeedBranch, isBeyond, pageOf, rowsOf, timeOf, type Value } from './branch-pages-store.ts'
import { drivingBranches, drivingFiltersOf, listBranches } from './feed-branches-store.ts'
import {
  type FeedRow,
  type FeedTables,
  type FeedValues,
  listValues,
  shownActions,
  shownAmong,
} from './feed-query-store.ts'
import type { DrivingFilter } from './feed-starts-store.ts'

type FeedStatement = Prepared<FeedValues, FeedRow>

// Viewers with the same facts share a statement: there is one for each combination of facts and of the filters below,
// some hundreds at most. Other lists are built for each request.
const listStatements = new Map<string, FeedStatement>()
const maxPreparedTypes = 2
const preparedFilters = new Set(['types', 'issuer', 'parentId', 'rootId'])
const singleStatements = new Map<string, FeedStatement>()

interface ListQuery {
  readonly viewer: Viewer
  readonly filter: ActionFilter
  readonly order: ActionOrder
  /** Unix seconds. */
  readonly now: number
}

/** One row more than the limit shows whether there is another page. */
export async function listFeed(reader: Reader, query: ListQuery): Promise<FeedRow[]> {
  const { order } = query
  const given = listValues(reader, query)
  if (!given) return []
  const values: FeedValues = {
    ...given,
    limit: order.limit + 1,
    offset: order.offset ?? 0,
    reach: order.limit + 1 + (order.offset ?? 0),
    placeAt: order.after?.createdAt ?? 0,
    placeSeq: order.after?.seq ?? 0,
  }
  const driver = await findDrivingFilter(reader, query, values)
  const shape = preparedShape(query, driver)
  if (shape === undefined) {
    const value = (name: string) => sql<string | number>`${values[name]}`
    return (
      (await buildList(
        reader.tables<FeedTables>(),
        { value, dialect: reader.dialect, driver },
        query,
      )?.execute()) ?? []
    )
  }
  let prepared = listStatements.get(shape)
  if (!prepared) {
    prepared = statement<FeedTables, FeedValues, FeedRow>((tables, value, dialect) => {
      const built = buildList(tables, { value, dialect, driver }, query)
      if (!built) throw new Error('a list without statuses has no statement')
      return built
    })
    listStatements.set(shape, prepared)
  }
  return reader.run(prepared, values)
}

function preparedShape(
  { viewer, filter, order }: ListQuery,
  driver: DrivingFilter | undefined,
): string | undefined {
  const given = Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  const { types = [] } = filter
  if (!given.every((name) => preparedFilters.has(name)) || types.length > maxPreparedTypes) return undefined
  if (order.offset !== undefined) return undefined
  const page = order.after ? 'next' : 'first'
  return [viewerShape(viewer), given.sort().join(' '), types.length, driver, order.direction, page].join('|')
}

type SelectFrom = Parameters<typeof shownActions>[0]
type SortedFeed = ReturnType<typeof shownActions>

/** The query of a list, without values; undefined when the viewer may see none of the requested statuses. */
export function buildList(
  tables: SelectFrom,
  how: { readonly value: Value; readonly dialect: Dialect; readonly driver?: DrivingFilter | undefined },
  { viewer, filter, order }: ListQuery,
): SortedFeed | undefined {
  const { value } = how
  const branches = listBranches(viewer, filter, how).map(({ from, conditions }) => ({
    from,
    conditions: order.after ? [...conditions, isBeyond(from, order, value)] : conditions,
  }))
  const [only, another] = branches
  if (!only) return undefined
  if (!another && only.from === 'actions') return buildBranch(tables, only, { viewer, value, order })
  return shownAmong(tables, pageOf(branches, order, how), { viewer, value })
    .orderBy(sql.ref('k.created_at'), order.direction)
    .orderBy(sql.ref('k.seq'), order.direction)
}

function buildBranch(
  tables: SelectFrom,
  { from, conditions }: FeedBranch,
  { viewer, value, order }: { readonly viewer: Viewer; readonly value: Value; readonly order: ActionOrder },
): SortedFeed {
  let query = shownActions(tables, viewer, value)
  for (const condition of conditions) query = query.where(condition)
  const sorted = query
    .orderBy(timeOf(from), order.direction)
    .orderBy('a.seq', order.direction)
    .limit(value('limit') as never)
  return order.offset === undefined ? sorted : sorted.offset(value('offset') as never)
}

/** The number of actions on all pages of a list, counted no further than `atMost`. */
export async function countFeed(reader: Reader, query: ListQuery, atMost: number): Promise<number> {
  const { viewer, filter } = query
  const values = listValues(reader, query)
  if (!values) return 0
  const value = (name: string) => sql<string | number>`${values[name]}`
  const driver = await findDrivingFilter(reader, query, values)
  return countRows(reader, listBranches(viewer, filter, { value, dialect: reader.dialect, driver }), {
    value,
    atMost,
  })
}

async function countRows(
  reader: Reader,
  branches: readonly FeedBranch[],
  { value, atMost }: { readonly value: Value; readonly atMost: number },
): Promise<number> {
  if (branches.length === 0) return 0
  const rows = sql`(${rowsOf(branches, value)} limit ${atMost})`.as('counted')
  const counting = reader.tables<FeedTables>().selectFrom(rows)
  const { total } = await counting
    .select((row) => row.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return Number(total)
}

// Enough to tell rare from frequent, and read in less time than a page.
const atMostProbed = 200

/** Of several filters, the one that finds the fewest actions. With a fixed order, finding five actions of a type among
 * 100 000 with a tag takes 150 ms of processor time instead of 1 ms. */
export async function findDrivingFilter(
  reader: Reader,
  { viewer, filter }: Pick<ListQuery, 'viewer' | 'filter'>,
  values: FeedValues,
): Promise<DrivingFilter | undefined> {
  const given = drivingFiltersOf(viewer, filter)
  if (given.length < 2) return given[0]
  const value = (name: string) => sql<string | number>`${values[name]}`
  const counts = await Promise.all(
    given.map((driver) =>
      countRows(reader, drivingBranches(viewer, filter, value, driver), { value, atMost: atMostProbed }),
    ),
  )
  return given[counts.indexOf(Math.min(...counts))]
}

const selectPlace = statement<
  FeedTables,
  { tenantId: number; actionId: string },
  { created_at: number; seq: number }
>((tables, value) =>
  tables
    .selectFrom('actions')
    .select(['created_at', 'seq'])
    .where('tenant_id', '=', value('tenantId'))
    .where('action_id', '=', value('actionId')),
)

/** The place in lists of an action that the tenant holds, in any status. */
export async function findActionPlace(reader: Reader, actionId: ActionId): Promise<ActionPlace | undefined> {
  const row = await reader.first(selectPlace, { tenantId: reader.tenantId, actionId })
  return row && { createdAt: row.created_at, seq: row.seq }
}

/** One action that the viewer may see: a published one that has not expired, the issuer's own draft, or for the tenant
 * one that is being verified. */
export async function findShown(
  reader: Reader,
  { viewer, actionId, now }: { readonly viewer: Viewer; readonly actionId: ActionId; readonly now: number },
): Promise<FeedRow | undefined> {
  const shape = viewerShape(viewer)
  let prepared = singleStatements.get(shape)
  if (!prepared) {
    prepared = statement<FeedTables, FeedValues, FeedRow>((tables, value) =>
      shownActions(tables, viewer, value)
        .where(sql<SqlBool>`a.action_id = ${value('actionId')}`)
        .where(isShownAlone(viewer, value))
        .where(
          isReadableBy(viewer, 'a', {
            viewerTag: value('viewerTag') as never,
            tenantTag: value('tenantTag') as never,
          }),
        ),
    )
    singleStatements.set(shape, prepared)
  }
  return reader.first(prepared, {
    tenantId: reader.tenantId,
    viewerTag: viewer.idTag ?? '',
    tenantTag: viewer.tenantTag,
    actionId,
    now,
  })
}

function isShownAlone(viewer: Viewer, value: Value) {
  const live = sql<SqlBool>`a.status in ('A', 'C') and (a.expires_at is null or a.expires_at > ${value('now')})`
  if (viewer.idTag === undefined) return live
  const hidden = viewer.facts.has('acts-as-tenant')
    ? sql<SqlBool>`a.status = 'P' or (a.status in ('R', 'S') and a.issuer_tag = ${value('tenantTag')})`
    : sql<SqlBool>`a.status in ('R', 'S') and coalesce(a.author_tag, '') = ${value('viewerTag')}`
  return sql<SqlBool>`((${live}) or (${hidden}))`
}
