import { sql } from 'kysely'
import { deletionOf, type Reader, statement, type Writer } from '#infra/db/index.ts'

interface StrangerRows {
  stranger_rows: {
    tenant_id: number
    domain: string
    /** Days since 1970, UTC. */
    day: number
    row_count: number
    byte_count: number
  }
}

interface Spending {
  readonly domain: string
  readonly day: number
  readonly rows: number
  readonly bytes: number
}

interface Bounds {
  readonly maxRows: number
  readonly maxBytes: number
}

const spend = statement<StrangerRows, Spending & Bounds & { tenantId: number }, { row_count: number }>(
  (tables, value) =>
    tables
      .insertInto('stranger_rows')
      .values({
        tenant_id: value('tenantId'),
        domain: value('domain'),
        day: value('day'),
        row_count: value('rows'),
        byte_count: value('bytes'),
      })
      .onConflict((conflict) =>
        conflict
          .columns(['tenant_id', 'domain', 'day'])
          .doUpdateSet({
            row_count: sql`stranger_rows.row_count + excluded.row_count`,
            byte_count: sql`stranger_rows.byte_count + excluded.byte_count`,
          })
          .where(sql<boolean>`stranger_rows.row_count + excluded.row_count <= ${value('maxRows')}`)
          .where(sql<boolean>`stranger_rows.byte_count + excluded.byte_count <= ${value('maxBytes')}`),
      )
      .returning('row_count'),
)

/** Counts the rows and bytes that strangers of a domain leave at the tenant of `tx`, in one row per domain and day.
 * False, with nothing counted, when that would exceed the bounds. */
export async function spendStrangerRows(tx: Writer, spending: Spending & Bounds): Promise<boolean> {
  const rows = await tx.run(spend, { ...spending, tenantId: tx.tenantId })
  return rows.length > 0
}

const selectSpent = statement<
  StrangerRows,
  { tenantId: number; domain: string; day: number },
  { row_count: number; byte_count: number }
>((tables, value) =>
  tables
    .selectFrom('stranger_rows')
    .select(['row_count', 'byte_count'])
    .where('tenant_id', '=', value('tenantId'))
    .where('domain', '=', value('domain'))
    .where('day', '=', value('day')),
)

/** What strangers of a domain have left at the tenant of the reader on a day. */
export async function findStrangerRows(
  reader: Reader,
  { domain, day }: Pick<Spending, 'domain' | 'day'>,
): Promise<Pick<Spending, 'rows' | 'bytes'>> {
  const row = await reader.first(selectSpent, { tenantId: reader.tenantId, domain, day })
  return { rows: row?.row_count ?? 0, bytes: row?.byte_count ?? 0 }
}

/** Deletes the rows of a day and of earlier days. */
export const deleteStrangerRows = deletionOf({
  table: 'stranger_rows',
  key: ['tenant_id', 'domain', 'day'],
  time: 'day',
})
