import type { Action } from '@kith/protocol'

/** What a list of actions knows of one: the action itself is kept once, under its id. */
export interface FeedRow {
  readonly actionId: string
  readonly type: string
  readonly createdAt: string
  readonly issuerTag: string
  readonly audienceTag?: string | undefined
  readonly parentId?: string | undefined
  readonly subject?: string | undefined
}

export interface RowsPage {
  readonly rows: readonly FeedRow[]
  readonly next: string | undefined
}

export interface RowsData {
  readonly pages: readonly RowsPage[]
  readonly pageParams: readonly unknown[]
}

export const feedTypes = ['POST', 'REPOST', 'SHRE'] as const

export function rowOf(action: Action): FeedRow {
  const { actionId, type, createdAt, issuerTag, audienceTag, parentId, subject } = action
  return { actionId, type, createdAt, issuerTag, audienceTag, parentId, subject }
}

/** The rows of all pages, each action once. */
export function rowsOf(data: RowsData | undefined): FeedRow[] {
  const rows = new Map<string, FeedRow>()
  for (const page of data?.pages ?? []) for (const row of page.rows) rows.set(row.actionId, row)
  return [...rows.values()]
}

/** The data with rows before all others, where they are not there yet. */
export function withNewest<Data extends RowsData>(data: Data, rows: readonly FeedRow[]): Data {
  const known = new Set(rowsOf(data).map(({ actionId }) => actionId))
  const added = rows.filter(({ actionId }) => !known.has(actionId)).sort(newestFirst)
  const [first, ...others] = data.pages
  if (!first || added.length === 0) return data
  return { ...data, pages: [{ ...first, rows: [...added, ...first.rows] }, ...others] }
}

/** Rows as they were at one moment, with those before them that are newer. */
export function withNewer(rows: readonly FeedRow[], known: readonly FeedRow[]): readonly FeedRow[] {
  const ids = new Set(rows.map(({ actionId }) => actionId))
  const since = rows[0]?.createdAt ?? ''
  return [...known.filter((row) => row.createdAt >= since && !ids.has(row.actionId)), ...rows]
}

export function withoutRows<Data extends RowsData>(data: Data, isGone: (row: FeedRow) => boolean): Data {
  if (!data.pages.some((page) => page.rows.some(isGone))) return data
  const pages = data.pages.map((page) => ({ ...page, rows: page.rows.filter((row) => !isGone(row)) }))
  return { ...data, pages }
}

const dayMs = 86_400_000
// Servers try to deliver for that long (docs/protocol/delivery.md, Retries).
const lateMs = 7 * dayMs

interface Unseen {
  /** The last row that was loaded, where there are more below it: those come when one scrolls there. */
  readonly loadedTo?: FeedRow | undefined
  readonly now?: Date
}

/** Which of the newest rows a list does not show yet: those that are newer than its first, and those that were on their way
 * for up to a week, since what is not offered above what one has read would not be found. */
export function unseenOf(
  newest: readonly FeedRow[],
  shown: readonly FeedRow[],
  { loadedTo, now = new Date() }: Unseen = {},
): FeedRow[] {
  const known = new Set(shown.map(({ actionId }) => actionId))
  const from = (offsetMs: number) => new Date(now.getTime() + offsetMs).toISOString()
  const [tomorrow, aWeekAgo] = [from(dayMs), from(-lateMs)]
  // What a clock that is far ahead has dated makes nothing else old.
  const first = shown.find(({ createdAt }) => createdAt <= tomorrow)?.createdAt ?? ''
  const since = first < aWeekAgo ? first : aWeekAgo
  // Where some of what is shown was deleted, the newest reach further down than the list.
  const end = loadedTo?.createdAt ?? ''
  return newest.filter(
    ({ actionId, createdAt }) => createdAt >= since && createdAt > end && !known.has(actionId),
  )
}

export function newestFirst(a: FeedRow, b: FeedRow): number {
  return b.createdAt.localeCompare(a.createdAt)
}

/** What the home feed shows: all, what people say outside of communities, what concerns one community, or what has one `#tag`. */
export type FeedFilter = 'all' | 'people' | (string & {})

/** Whether an action that has just come belongs to the feed with this filter; undefined where only the server can tell. */
export function belongsTo(
  of: FeedFilter,
  row: FeedRow,
  communities: ReadonlySet<string>,
): boolean | undefined {
  if (of === 'all') return true
  if (of === 'people') return !communities.has(row.issuerTag) && !communities.has(row.audienceTag ?? '')
  if (of.startsWith('#')) return undefined
  return row.issuerTag === of || row.audienceTag === of
}
