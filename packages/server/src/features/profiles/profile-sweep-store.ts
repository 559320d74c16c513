import { sql } from 'kysely'
import { type Reader, serverTenant, statement, type Writer } from '#infra/db/index.ts'

interface SweepTables {
  profiles: {
    tenant_id: number
    id_tag: string
    updated_at: number
    refreshed_at: number | null
    look_at: number
  }
}

/** A profile of another server that the sweep is to check. */
export interface DueProfile {
  readonly idTag: string
  /** When its server was last asked, or spoke of it; Unix seconds. */
  readonly refreshedAt: number
  /** Does anything hold between a tenant of this server and the identity? */
  readonly isRelated: boolean
}

interface DueRow {
  id_tag: string
  refreshed_at: number
  is_related: number | boolean
}

const selectDue = statement<SweepTables, { now: number; limit: number }, DueRow>((tables, value) =>
  tables
    .selectFrom('profiles')
    .select([
      'id_tag',
      sql<number>`coalesce(refreshed_at, updated_at)`.as('refreshed_at'),
      sql<boolean>`exists (select 1 from relations where relations.id_tag = profiles.id_tag)`.as(
        'is_related',
      ),
    ])
    .where('tenant_id', '=', sql.lit(serverTenant))
    .where('look_at', '<=', value('now'))
    .orderBy('look_at')
    .limit(value('limit')),
)

export async function listDueProfiles(
  reader: Reader,
  query: { readonly now: number; readonly limit: number },
): Promise<DueProfile[]> {
  const rows = await reader.run(selectDue, query)
  return rows.map((row) => ({
    idTag: row.id_tag,
    refreshedAt: Number(row.refreshed_at),
    isRelated: Boolean(row.is_related),
  }))
}

/** Sets when the sweep checks a profile again. */
export async function postpone(tx: Writer, idTag: string, lookAt: number): Promise<void> {
  await tx
    .tables<SweepTables>()
    .updateTable('profiles')
    .set({ look_at: lookAt })
    .where('tenant_id', '=', serverTenant)
    .where('id_tag', '=', idTag)
    .execute()
}

export async function deleteRemoteProfile(tx: Writer, idTag: string): Promise<void> {
  await tx
    .tables<SweepTables>()
    .deleteFrom('profiles')
    .where('tenant_id', '=', serverTenant)
    .where('id_tag', '=', idTag)
    .execute()
}

/** Are more profiles of other servers stored than that? Counts them. */
export async function hasMoreThan(reader: Reader, maxRows: number): Promise<boolean> {
  const row = await reader
    .tables<SweepTables>()
    .selectFrom('profiles')
    .select('id_tag')
    .where('tenant_id', '=', serverTenant)
    .orderBy('id_tag')
    .offset(maxRows)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
