import type { IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import type { Reader, TenantId } from '#infra/db/index.ts'

interface MadeTables {
  actions: { tenant_id: TenantId; issuer_tag: IdTag; status: string }
}

/** How many actions these tenants have made that are not over. */
export async function countMadeHere(
  reader: Reader,
  tenants: readonly { readonly tenantId: TenantId; readonly idTag: IdTag }[],
): Promise<number> {
  if (tenants.length === 0) return 0
  // The first row tells PostgreSQL what the values are.
  const values = tenants.map(
    ({ tenantId, idTag }) => sql`(cast(${tenantId} as bigint), cast(${idTag} as text))`,
  )
  const { count } = await reader
    .tables<MadeTables>()
    .selectFrom('actions')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where(sql<boolean>`(tenant_id, issuer_tag) in (values ${sql.join(values)})`)
    // Word for word as in the index by issuer.
    .where(sql<boolean>`status in ('A', 'C')`)
    .executeTakeFirstOrThrow()
  return Number(count)
}
