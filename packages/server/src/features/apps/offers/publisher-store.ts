import { type SqlBool, sql } from 'kysely'
import type { Reader, TenantId } from '#infra/db/index.ts'

interface PublisherTables {
  app_offers: { tenant_id: number; publisher_tag: string }
}

/** Who offers apps, of those that the reader's tenant follows or is connected with, and the tenant itself. */
export async function listPublisherIds(reader: Reader, limit: number): Promise<TenantId[]> {
  const rows = await reader
    .tables<PublisherTables>()
    .selectFrom('app_offers as o')
    .select('o.tenant_id')
    .where(
      sql<SqlBool>`(o.tenant_id = ${reader.tenantId} or exists (select 1 from relations
        where relations.tenant_id = ${reader.tenantId} and relations.id_tag = o.publisher_tag
        and (relations.following = 1 or relations.connection = 'connected')))`,
    )
    .groupBy(['o.publisher_tag', 'o.tenant_id'])
    .orderBy('o.publisher_tag')
    .limit(limit)
    .execute()
  return rows.map((row) => row.tenant_id as TenantId)
}
