import { type SqlBool, sql } from 'kysely'
import { deletionOf, type Reader, type TenantId, type Writer } from '#infra/db/index.ts'

// Word for word as in the indexes of `accounts-migrations.ts`.
export const isUsedUp = 'count = 0'
export const hasEnd = 'expires_at is not null'

interface SweepTables {
  refs: { tenant_id: TenantId; ref_hash: string; count: number | null; used_up_at: number | null }
}

interface UsedUp {
  readonly tenantId: TenantId
  readonly refHash: string
}

// NOTE: all of these over all tenants.

export const deleteExpiredReferences = deletionOf({
  table: 'refs',
  key: ['tenant_id', 'ref_hash'],
  time: 'expires_at',
  where: hasEnd,
})

/** Those that were used up before a time; `unmarked`: those that no sweep has marked yet. */
export async function listUsedUp(
  reader: Reader,
  { upTo, limit }: { readonly upTo: number | 'unmarked'; readonly limit: number },
): Promise<UsedUp[]> {
  const rows = await reader
    .tables<SweepTables>()
    .selectFrom('refs')
    .select(['tenant_id', 'ref_hash'])
    .where(sql.raw<SqlBool>(isUsedUp))
    .where(upTo === 'unmarked' ? sql<SqlBool>`used_up_at is null` : sql<SqlBool>`used_up_at <= ${upTo}`)
    .orderBy('used_up_at')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ tenantId: row.tenant_id, refHash: row.ref_hash }))
}

/** Marks a reference as used up at a time, from which its retention counts. */
export async function markUsedUp(tx: Writer, refHash: string, at: number): Promise<void> {
  await tx
    .tables<SweepTables>()
    .updateTable('refs')
    .set({ used_up_at: at })
    .where('tenant_id', '=', tx.tenantId)
    .where('ref_hash', '=', refHash)
    .execute()
}

export async function deleteUsedUp(tx: Writer, refHash: string): Promise<void> {
  await tx
    .tables<SweepTables>()
    .deleteFrom('refs')
    .where('tenant_id', '=', tx.tenantId)
    .where('ref_hash', '=', refHash)
    .where('count', '=', 0)
    .execute()
}
