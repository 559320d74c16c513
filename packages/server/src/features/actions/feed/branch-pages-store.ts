import { type Expression, type SqlBool, sql } from 'kysely'
import type { Dialect } from '#infra/db/index.ts'
import { comparePlace, matchOrder, matchSource, matchTime } from '../search/search-query-store.ts'
import type { ActionOrder } from './action-filter.ts'

export type Value = (name: string) => Expression<string | number>
export type Condition = Expression<SqlBool>

/** A part of a list that is read through one index, in the order of the list. Branches have no action in common. */
export interface FeedBranch {
  readonly from: Source
  readonly conditions: readonly Condition[]
}

/** `actions`: the table alone. `tags`: actions with a tag, as `t`. `recipients`: actions addressed to an identity by
 * `audience`, as `r`. `matches`, on SQLite: actions that a search finds, as `w`. */
export type Source = 'actions' | 'tags' | 'recipients' | 'matches'

// SQLite keeps the order of the tables of a `cross join`.
const sources: Record<Source, string> = {
  actions: 'actions as a where',
  tags: `action_tags as t cross join actions as a
    where a.tenant_id = t.tenant_id and a.action_id = t.action_id and`,
  recipients: `action_recipients as r cross join actions as a
    where a.tenant_id = r.tenant_id and a.action_id = r.action_id and`,
  matches: matchSource,
}

const times: Record<Source, string> = {
  actions: 'a.created_at',
  tags: 't.created_at',
  recipients: 'r.created_at',
  matches: matchTime,
}

/** The column that a branch is ordered by: the time in the table through whose index it is read. */
export function timeOf(from: Source): Expression<number> {
  return sql.raw<number>(times[from])
}

/** Condition: after the last action of the previous page, in the order of the list. */
export function isBeyond(from: Source, { direction }: ActionOrder, value: Value): Condition {
  const compare = sql.raw(direction === 'desc' ? '<' : '>')
  if (from === 'matches')
    return comparePlace(direction === 'desc' ? '<' : '>', {
      createdAt: value('placeAt'),
      seq: value('placeSeq'),
    })
  const isAfter = sql<SqlBool>`(${timeOf(from)}, a.seq) ${compare} (${value('placeAt')}, ${value('placeSeq')})`
  if (from === 'actions') return isAfter
  // No index serves a comparison of columns of two tables, so the time is compared by itself as well.
  return sql<SqlBool>`(${timeOf(from)} ${compare}= ${value('placeAt')} and ${isAfter})`
}

/** The times and sequence numbers of one page of a list. Each branch is in the order of the list. SQLite merges them
 * and stops after the page. PostgreSQL would read and sort them all, so there each branch gives at most what the page
 * can take. */
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

/** One row for each action of a list. */
export function rowsOf(branches: readonly FeedBranch[], value: Value): Expression<unknown> {
  const selects = branches.map((branch) => selectFrom(branch, value, sql`1 as one`))
  return sql.join(selects, sql` union all `)
}

function selectFrom({ from, conditions }: FeedBranch, value: Value, columns: Expression<unknown>) {
  const all = [sql<SqlBool>`a.tenant_id = ${value('tenantId')}`, ...conditions]
  return sql`select ${columns} from ${sql.raw(sources[from])} ${sql.join(all, sql` and `)}`
}
