import { busWindow } from '@kith/protocol'
import { sql } from 'kysely'
import { deletionOf, forUpdate, type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'
import type { Notice } from './notice.ts'

interface BusTables {
  bus_logs: { tenant_id: TenantId; last_seq: number; wanted_until: number }
  bus_events: { event_id: number; tenant_id: TenantId; seq: number | null; at: number; notice: string }
}

/** An event with its number in the log of its tenant. */
interface LoggedNotice {
  readonly seq: number
  readonly notice: Notice
}

const insertWanted = statement<
  BusTables,
  { tenantId: TenantId; at: number; notice: string },
  { tenant_id: number }
>((tables, value) =>
  tables
    .insertInto('bus_events')
    .columns(['tenant_id', 'at', 'notice'])
    .expression(
      tables
        .selectFrom('bus_logs')
        .select([
          'tenant_id',
          sql<number>`cast(${value('at')} as bigint)`.as('at'),
          sql<string>`cast(${value('notice')} as text)`.as('notice'),
        ])
        .where('tenant_id', '=', value('tenantId'))
        .where('wanted_until', '>', value('at')),
    )
    .returning('tenant_id'),
)

/** Writes an event down if any client of the tenant wants events; false otherwise, at the cost of one look-up by key. It
 * has no number yet: numbers are given in the order of commits, which is not known before. */
export async function appendNotice(tx: Writer, notice: Notice, at: number): Promise<boolean> {
  const rows = await tx.run(insertWanted, { tenantId: tx.tenantId, at, notice: JSON.stringify(notice) })
  return rows.length > 0
}

/** The same for many tenants at once; answers which of them want it. `tx` may be any tenant's. */
export async function appendNotices(
  tx: Writer,
  tenantIds: readonly TenantId[],
  { notice, at }: { readonly notice: Notice; readonly at: number },
): Promise<TenantId[]> {
  const wanting: TenantId[] = []
  // As many values as both databases take with ease.
  for (let from = 0; from < tenantIds.length; from += 1000) {
    const tables = tx.tables<BusTables>()
    const rows = await tables
      .insertInto('bus_events')
      .columns(['tenant_id', 'at', 'notice'])
      .expression(
        tables
          .selectFrom('bus_logs')
          .select([
            'tenant_id',
            sql<number>`cast(${at} as bigint)`.as('at'),
            sql<string>`cast(${JSON.stringify(notice)} as text)`.as('notice'),
          ])
          .where('tenant_id', 'in', tenantIds.slice(from, from + 1000))
          .where('wanted_until', '>', at),
      )
      .returning('tenant_id')
      .execute()
    wanting.push(...rows.map(({ tenant_id }) => tenant_id))
  }
  return wanting
}

/** Numbers the events of a tenant that have none, and forgets what is beyond the window; answers the last number. It must
 * come first in its transaction: a process waits for another that numbers already. */
export async function numberEvents(tx: Writer): Promise<number> {
  const log = tx
    .tables<BusTables>()
    .selectFrom('bus_logs')
    .select('last_seq')
    .where('tenant_id', '=', tx.tenantId)
  const locked = await forUpdate(tx.dialect, log).executeTakeFirst()
  if (!locked) return 0
  const unnumbered = await tx
    .tables<BusTables>()
    .selectFrom('bus_events')
    .select('event_id')
    .where('tenant_id', '=', tx.tenantId)
    .where('seq', 'is', null)
    .orderBy('event_id')
    .limit(numberedAtOnce)
    .execute()
  let seq = locked.last_seq
  for (const { event_id } of unnumbered) {
    seq += 1
    await tx.change(setNumber, { tenantId: tx.tenantId, eventId: event_id, seq })
  }
  if (seq === locked.last_seq) return seq
  await tx.change(setLast, { tenantId: tx.tenantId, seq })
  if (Math.floor(seq / pruneEvery) > Math.floor(locked.last_seq / pruneEvery))
    await tx.change(deleteBefore, { tenantId: tx.tenantId, seq: seq - busWindow.events })
  return seq
}

// What is left is found by the next look at the logs.
const numberedAtOnce = 2000
const pruneEvery = 50

const setNumber = statement<BusTables, { tenantId: TenantId; eventId: number; seq: number }, unknown>(
  (tables, value) =>
    tables
      .updateTable('bus_events')
      .set({ seq: value('seq') })
      .where('tenant_id', '=', value('tenantId'))
      .where('event_id', '=', value('eventId')),
)

const setLast = statement<BusTables, { tenantId: TenantId; seq: number }, unknown>((tables, value) =>
  tables
    .updateTable('bus_logs')
    .set({ last_seq: value('seq') })
    .where('tenant_id', '=', value('tenantId')),
)

const deleteBefore = statement<BusTables, { tenantId: TenantId; seq: number }, unknown>((tables, value) =>
  tables
    .deleteFrom('bus_events')
    .where('tenant_id', '=', value('tenantId'))
    .where('seq', '<=', value('seq'))
    .where('seq', 'is not', null),
)

/** How a tenant's log stands. */
interface LogState {
  readonly lastSeq: number
  /** Until when events are written down, Unix seconds. */
  readonly wantedUntil: number
}

/** Are events of the tenant written down now? */
export async function hasListeners(reader: Reader, now: number): Promise<boolean> {
  return (await reader.first(selectWanted, { tenantId: reader.tenantId, now })) !== undefined
}

const selectWanted = statement<BusTables, { tenantId: TenantId; now: number }, { tenant_id: number }>(
  (tables, value) =>
    tables
      .selectFrom('bus_logs')
      .select('tenant_id')
      .where('tenant_id', '=', value('tenantId'))
      .where('wanted_until', '>', value('now')),
)

export async function findLog(reader: Reader): Promise<LogState | undefined> {
  const row = await reader
    .tables<BusTables>()
    .selectFrom('bus_logs')
    .select(['last_seq', 'wanted_until'])
    .where('tenant_id', '=', reader.tenantId)
    .executeTakeFirst()
  return row && { lastSeq: row.last_seq, wantedUntil: row.wanted_until }
}

/** From now on events of the tenant are written down. Where none were for a while, a number is left out, so that a
 * client that comes back after it learns that events are missing. */
export async function wantLog(tx: Writer, { now, until }: { now: number; until: number }): Promise<void> {
  const lapsed = tx
    .tables<BusTables>()
    .selectFrom('bus_logs')
    .select('tenant_id')
    .where('tenant_id', '=', tx.tenantId)
    .where('wanted_until', '<=', now)
  await tx
    .tables<BusTables>()
    .deleteFrom('bus_events')
    .where('tenant_id', '=', tx.tenantId)
    .where('tenant_id', 'in', lapsed)
    .execute()
  await tx
    .tables<BusTables>()
    .insertInto('bus_logs')
    .values({ tenant_id: tx.tenantId, last_seq: 0, wanted_until: until })
    .onConflict((conflict) =>
      conflict.column('tenant_id').doUpdateSet({
        wanted_until: until,
        last_seq: sql<number>`bus_logs.last_seq + case when bus_logs.wanted_until <= ${now} then 1 else 0 end`,
      }),
    )
    .execute()
}

const selectEvents = statement<
  BusTables,
  { tenantId: TenantId; after: number; upTo: number; limit: number },
  { seq: number | null; notice: string }
>((tables, value) =>
  tables
    .selectFrom('bus_events')
    .select(['seq', 'notice'])
    .where('tenant_id', '=', value('tenantId'))
    .where('seq', 'is not', null)
    .where('seq', '>', value('after'))
    .where('seq', '<=', value('upTo'))
    .orderBy('seq')
    .limit(value('limit')),
)

/** Events in their order. */
export async function listEvents(
  reader: Reader,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): Promise<LoggedNotice[]> {
  const rows = await reader.run(selectEvents, { tenantId: reader.tenantId, after, upTo, limit })
  return rows.map(({ seq, notice }) => ({ seq: seq ?? 0, notice: JSON.parse(notice) as Notice }))
}

/** The number of the oldest event that is kept. */
export async function findOldestSeq(reader: Reader): Promise<number | undefined> {
  const row = await reader
    .tables<BusTables>()
    .selectFrom('bus_events')
    .select('seq')
    .where('tenant_id', '=', reader.tenantId)
    .where('seq', 'is not', null)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst()
  return row?.seq ?? undefined
}

/** NOTE: over all tenants: how the logs of these stand, in one query. */
export async function listLogs(
  reader: Reader,
  tenantIds: readonly TenantId[],
): Promise<{ readonly tenantId: TenantId; readonly lastSeq: number; readonly hasUnnumbered: boolean }[]> {
  const rows = await reader
    .tables<BusTables>()
    .selectFrom('bus_logs')
    .select([
      'tenant_id',
      'last_seq',
      sql<number>`(select count(*) from (select 1 from bus_events where bus_events.tenant_id = bus_logs.tenant_id
        and bus_events.seq is null limit 1) as unnumbered)`.as('unnumbered'),
    ])
    .where('tenant_id', 'in', tenantIds)
    .execute()
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    lastSeq: row.last_seq,
    hasUnnumbered: Number(row.unnumbered) > 0,
  }))
}

/** NOTE: over all tenants: forgets events up to a time, but none that waits for its number. */
export const deleteNumberedEvents = deletionOf({
  table: 'bus_events',
  key: ['event_id'],
  time: 'at',
  where: 'seq is not null',
})

/** NOTE: over all tenants: the same with those that wait, and that no client has asked for. */
export const deleteEvents = deletionOf({ table: 'bus_events', key: ['event_id'], time: 'at' })
