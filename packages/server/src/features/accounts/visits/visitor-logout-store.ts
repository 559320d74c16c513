import type { IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import { deletionOf, type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'
import type { VisitorLogout } from './visitor-logout.ts'

interface LogoutRow {
  tenant_id: TenantId
  caller_tag: IdTag
  before: number
  /** JSON. */
  sessions: string
  kept_until: number
}
interface LogoutTables {
  visitor_logouts: LogoutRow
}

/** An identity, at a tenant. */
export interface Visitor {
  readonly tenantId: TenantId
  readonly callerTag: IdTag
}

const selectLogout = statement<LogoutTables, { tenantId: TenantId; callerTag: IdTag }, LogoutRow>(
  (tables, value) =>
    tables
      .selectFrom('visitor_logouts')
      .selectAll()
      .where('tenant_id', '=', value('tenantId'))
      .where('caller_tag', '=', value('callerTag')),
)

export async function findLogout(reader: Reader, callerTag: IdTag): Promise<VisitorLogout | undefined> {
  const row = await reader.first(selectLogout, { tenantId: reader.tenantId, callerTag })
  return row && logoutOf(row)
}

/** NOTE: over all tenants. One query, whatever their number. */
export async function listLogouts(
  reader: Reader,
  visitors: readonly Visitor[],
): Promise<(Visitor & VisitorLogout)[]> {
  if (visitors.length === 0) return []
  // The first row tells PostgreSQL what the values are.
  const values = visitors.map(
    ({ tenantId, callerTag }) => sql`(cast(${tenantId} as bigint), cast(${callerTag} as text))`,
  )
  const rows = await reader
    .tables<LogoutTables>()
    .selectFrom('visitor_logouts')
    .selectAll()
    .where(sql<boolean>`(tenant_id, caller_tag) in (values ${sql.join(values)})`)
    .execute()
  return rows.map((row) => ({ tenantId: row.tenant_id, callerTag: row.caller_tag, ...logoutOf(row) }))
}

/** `keptUntil`: Unix seconds. */
export async function putLogout(
  tx: Writer,
  callerTag: IdTag,
  { before, sessions, keptUntil }: VisitorLogout & { readonly keptUntil: number },
): Promise<void> {
  const said = { before, sessions: JSON.stringify(sessions), kept_until: keptUntil }
  await tx
    .tables<LogoutTables>()
    .insertInto('visitor_logouts')
    .values({ tenant_id: tx.tenantId, caller_tag: callerTag, ...said })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'caller_tag']).doUpdateSet(said))
    .execute()
}

// NOTE: over all tenants.
export const deleteOldLogouts = deletionOf({
  table: 'visitor_logouts',
  key: ['tenant_id', 'caller_tag'],
  time: 'kept_until',
})

function logoutOf({ before, sessions }: LogoutRow): VisitorLogout {
  return { before, sessions: JSON.parse(sessions) as VisitorLogout['sessions'] }
}
