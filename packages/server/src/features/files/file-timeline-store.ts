import { setImmediate as nextTurn } from 'node:timers/promises'
import { type MonthCount, maxTimelineFiles } from '@kith/protocol'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Dialect, Reader } from '#infra/db/index.ts'
import type { FileViewer } from './access/file-viewer.ts'
import {
  type Bounded,
  type FileFilter,
  type FilterRequest,
  isLiveOnly,
  selectInRange,
  selectReadable,
  takenOrCreated,
  unlessChanging,
  withCandidates,
} from './file-filter-store.ts'

interface Place {
  readonly at: number
  readonly fileId: string
}

/** Files from one place, itself left out, down to another. */
interface Span {
  readonly after?: Place | undefined
  readonly last?: Place | undefined
}

interface TimelineRequest extends FilterRequest {
  /** How many files one statement looks at. */
  readonly portion?: number
  /** How many are looked at altogether. */
  readonly maxFiles?: number
}

// About ten milliseconds on SQLite, which answers in the thread of all requests; these have their turn in between.
const defaultPortion = 5_000

/** How many files of each month, in UTC, the viewer may read, the newest month first. In portions from the newest file on,
 * and of no more than `maxFiles` files, however few of them are counted. */
export async function countByMonth(
  reader: Reader,
  who: FileViewer,
  request: TimelineRequest,
): Promise<MonthCount[]> {
  const { maxFiles = maxTimelineFiles } = request
  // Without an index in this order each portion would sort all files.
  const portion = isLiveOnly(request.filter) ? (request.portion ?? defaultPortion) : maxFiles
  const bounded = await withCandidates(reader, who, request)
  if (bounded.among?.length === 0) return []
  // A thousand at most.
  if (bounded.among) return toMonths(await countSpan(reader, who, bounded, {}))
  const rows: MonthRow[] = []
  let after: Place | undefined
  for (let looked = 0; looked < maxFiles; looked += portion) {
    const last = await findLast(reader, bounded.filter, { after, size: Math.min(portion, maxFiles - looked) })
    rows.push(...(await countSpan(reader, who, bounded, { after, last })))
    if (!last) break
    after = last
    await nextTurn()
  }
  return toMonths(rows)
}

/** The last file of a full portion. */
async function findLast(
  reader: Reader,
  filter: FileFilter,
  { after, size }: { readonly after: Place | undefined; readonly size: number },
): Promise<Place | undefined> {
  const row = await selectInRange(reader, filter)
    .select([takenOrCreated.as('at'), 'files.file_id'])
    .$if(after !== undefined, (query) => query.where(isBeyond('<', after as Place)))
    .orderBy(takenOrCreated, 'desc')
    .orderBy('files.file_id', 'desc')
    .offset(size - 1)
    .limit(1)
    .executeTakeFirst()
  return row && { at: Number(row.at), fileId: row.file_id }
}

interface MonthRow {
  readonly month: string
  readonly total: number
}

async function countSpan(
  reader: Reader,
  who: FileViewer,
  request: Bounded<FilterRequest>,
  { after, last }: Span,
): Promise<readonly MonthRow[]> {
  const month = monthOf(reader.dialect)
  const { items } = await unlessChanging(request, async (way) => ({
    items: await selectReadable(reader, who, way)
      .select((row) => [month.as('month'), row.fn.countAll<number>().as('total')])
      .$if(after !== undefined, (query) => query.where(isBeyond('<', after as Place)))
      .$if(last !== undefined, (query) => query.where(isBeyond('>=', last as Place)))
      .groupBy(month)
      .execute(),
  }))
  return items
}

function isBeyond(compare: '<' | '>=', { at, fileId }: Place): RawBuilder<SqlBool> {
  // SQLite looks for a pair in an index only where both are columns, so the time is compared by itself as well.
  const inOrder = sql`(${takenOrCreated}, files.file_id) ${sql.raw(compare)} (${at}, ${fileId})`
  return sql<SqlBool>`(${takenOrCreated} ${sql.raw(compare === '<' ? '<=' : '>=')} ${at} and ${inOrder})`
}

function monthOf(dialect: Dialect): RawBuilder<string> {
  if (dialect === 'sqlite') return sql<string>`strftime('%Y-%m', ${takenOrCreated}, 'unixepoch')`
  return sql<string>`to_char(to_timestamp(${takenOrCreated}) at time zone 'UTC', 'YYYY-MM')`
}

/** A month may have files in several portions. */
function toMonths(rows: readonly MonthRow[]): MonthCount[] {
  const counts = new Map<string, number>()
  for (const { month, total } of rows) counts.set(month, (counts.get(month) ?? 0) + Number(total))
  return [...counts]
    .map(([month, count]) => ({ month, count }))
    .sort((one, other) => (one.month < other.month ? 1 : -1))
}
