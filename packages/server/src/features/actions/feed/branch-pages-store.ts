import { type Expression, type SqlBool, sql } from 'kysely'
import type { Dialect } from '#infra/db/index.ts'
import type { ActionOrder } from './action-filter.ts'
import { comparePlace, matchOrder, matchSource, matchTime } from './search-query-store.ts'

export type Value = (name: string) => Expression<string | number>
export type Condition = Expression<SqlBool>

/** A part of a list that is read through one index, in the order of the list. No action is in two of them. */
export interface FeedBranch {
  readonly from: Source
  readonly conditions: readonly Condition[]
}

/** The actions; those with a tag, as `t`; those addressed to an identity besides their `audience_tag`, as `r`; on SQLite
 * those with the words of a search, as `w`. */
export type Source = 'actions' | 'tags' | 'recipients' | 'matches'

// SQLite keeps to the order of a `cross join`.
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
