import type { IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import type { Reader, TenantId } from '#infra/db/index.ts'
import type { StoredAction } from '../action.ts'
import { fromRow, rowColumns } from '../action-row.ts'
import type { ActionTables } from '../action-tables.ts'

/** The place of an action among those of its issuer. */
export interface IssuedPlace {
  readonly createdAt: number
  readonly seq: number
}

interface IssuedQuery {
  readonly issuerTag: IdTag
  /** Only actions signed then or later; Unix seconds. */
  readonly since: number
  readonly status: 'live' | 'pending'
  readonly after: IssuedPlace | undefined
  readonly limit: number
}

// The same text as in the indexes that serve them.
const conditions = {
  live: sql<boolean>`status in ('A', 'C')`,
  pending: sql<boolean>`status = 'P'`,
}

/** The actions of an issuer that the tenant holds, oldest first. */
export async function listIssued(
  reader: Reader,
  { issuerTag, since, status, after, limit }: IssuedQuery,
): Promise<{ readonly action: StoredAction; readonly place: IssuedPlace }[]> {
  let query = reader
    .tables<ActionTables>()
    .selectFrom('actions')
    .select([...rowColumns, 'seq'])
    .where('tenant_id', '=', reader.tenantId)
    .where('issuer_tag', '=', issuerTag)
    .where(conditions[status])
    .where('issued_at', '>=', since)
    .orderBy('created_at')
    .orderBy('seq')
    .limit(limit)
  if (after) query = query.where(sql<boolean>`(created_at, seq) > (${after.createdAt}, ${after.seq})`)
  const rows = await query.execute()
  return rows.map((row) => ({ action: fromRow(row), place: { createdAt: row.created_at, seq: row.seq } }))
}

/** NOTE: over all tenants: the next tenant that holds actions, by one probe of an index. */
export async function nextTenantWithActions(reader: Reader, after: TenantId): Promise<TenantId | undefined> {
  const row = await reader
    .tables<ActionTables>()
    .selectFrom('actions')
    .select('tenant_id')
    .where('tenant_id', '>', after)
    .orderBy('tenant_id')
    .limit(1)
    .executeTakeFirst()
  return row && (row.tenant_id as TenantId)
}
