import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
import { personalMethods } from '../sessions/session.ts'

interface ActivityTables {
  accounts: { tenant_id: TenantId; active_day: number | null }
  sessions: { tenant_id: TenantId; method: string; last_used_at: number }
}

interface LastUse {
  readonly tenantId: TenantId
  /** Unix seconds. */
  readonly usedAt: number
}

/** NOTE: over all tenants behind `after`, in their order: when the sessions of each person were last used. */
export async function listLastUses(reader: Reader, after: TenantId, limit: number): Promise<LastUse[]> {
  const rows = await reader
    .tables<ActivityTables>()
    .selectFrom('sessions')
    .select((row) => ['tenant_id', row.fn.max('last_used_at').as('used_at')])
    .where('tenant_id', '>', after)
    .where('method', 'in', personalMethods)
    .groupBy('tenant_id')
    .orderBy('tenant_id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ tenantId: row.tenant_id, usedAt: Number(row.used_at) }))
}

/** Notes that the person of the writer's tenant was here on a day, unless they were since. */
export async function noteActiveDay(tx: Writer, day: number): Promise<void> {
  await tx
    .tables<ActivityTables>()
    .updateTable('accounts')
    .set({ active_day: day })
    .where('tenant_id', '=', tx.tenantId)
    .where((row) => row.or([row('active_day', 'is', null), row('active_day', '<', day)]))
    .execute()
}

/** NOTE: over all tenants: how many people were here on this day or later. */
export async function countActiveSince(reader: Reader, day: number): Promise<number> {
  const { count } = await reader
    .tables<ActivityTables>()
    .selectFrom('accounts')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('active_day', '>=', day)
    .executeTakeFirstOrThrow()
  return Number(count)
}
