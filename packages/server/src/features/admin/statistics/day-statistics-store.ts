import type { Selectable } from 'kysely'
import type { Reader, Writer } from '#infra/db/index.ts'

interface DayRow {
  day: number
  active_people: number
  people: number
  communities: number
  actions: number
  used_bytes: number
  files: number
  sockets: number
}
interface StatisticsTables {
  daily_statistics: DayRow
}

/** What is counted of a day. */
export interface DayCounts {
  /** From the first of 1970 (UTC). */
  readonly day: number
  readonly activePeople: number
  readonly people: number
  readonly communities: number
  readonly actions: number
  readonly usedBytes: number
  readonly files: number
  /** The most at one time. */
  readonly sockets: number
}

// NOTE: the rows are the whole server's, and of no tenant.

/** Counts a day again: the counts of now take the place of those before, but the most sockets stay. */
export async function putDay(tx: Writer, counts: DayCounts): Promise<void> {
  const [before] = await listDays(tx, { from: counts.day, limit: 1 })
  const row = toRow({ ...counts, sockets: Math.max(counts.sockets, before?.sockets ?? 0) })
  await tx
    .tables<StatisticsTables>()
    .insertInto('daily_statistics')
    .values(row)
    .onConflict((conflict) => conflict.column('day').doUpdateSet(row))
    .execute()
}

/** Days from this one on, the newest first. */
export async function listDays(
  reader: Reader,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<DayCounts[]> {
  const rows = await reader
    .tables<StatisticsTables>()
    .selectFrom('daily_statistics')
    .selectAll()
    .where('day', '>=', from)
    .orderBy('day', 'desc')
    .limit(limit)
    .execute()
  return rows.map(fromRow)
}

export async function deleteDaysBefore(tx: Writer, day: number): Promise<void> {
  await tx.tables<StatisticsTables>().deleteFrom('daily_statistics').where('day', '<', day).execute()
}

function toRow({ activePeople, usedBytes, ...same }: DayCounts): DayRow {
  return { ...same, active_people: activePeople, used_bytes: usedBytes }
}

function fromRow(row: Selectable<DayRow>): DayCounts {
  const { active_people, used_bytes, ...same } = row
  return { ...same, activePeople: active_people, usedBytes: used_bytes }
}
