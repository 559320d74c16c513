import { type SqlBool, sql } from 'kysely'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
import { doubtMarks, restingOn } from '../access/file-access-predicate.ts'
import type { Share } from './share.ts'
import { chunks, type ShareTables, toShare } from './share-store.ts'

// Literals, since an index over some rows serves only a statement that shows it wants those alone.
const isInDoubt = sql<SqlBool>`is_derived > 1`
const marked = (mark: keyof typeof doubtMarks) => sql<SqlBool>`is_derived = ${sql.lit(doubtMarks[mark])}`

/** Lets count for nothing what rests on these shares, until it was reviewed; answers how many that are. */
export async function doubtWhatRestsOn(tx: Writer, shareIds: readonly number[]): Promise<number> {
  let count = 0
  for (const ids of chunks(shareIds))
    count += await doubt(tx, restingOn(sql`${tx.tenantId}`, sql`in (${sql.join(ids)})`))
  return count
}

/** The same for these shares themselves, where they were given on. */
export async function doubtShares(tx: Writer, shareIds: readonly number[]): Promise<number> {
  let count = await doubtWhatRestsOn(tx, shareIds)
  for (const ids of chunks(shareIds)) count += await doubt(tx, sql`${sql.join(ids)}`)
  return count
}

async function doubt(tx: Writer, ids: ReturnType<typeof sql<number>>): Promise<number> {
  const { numUpdatedRows } = await tx
    .tables<ShareTables>()
    .updateTable('shares')
    .set({ is_derived: doubtMarks.waiting })
    .where(sql<SqlBool>`+tenant_id = ${tx.tenantId}`)
    .where(sql<SqlBool>`+is_derived = 1`)
    .where(sql<SqlBool>`share_id in (${ids})`)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** Shares in doubt that are to be looked at, or that nothing founds so far; the oldest first. */
export async function listInDoubt(
  reader: Reader,
  mark: keyof typeof doubtMarks,
  limit: number,
): Promise<Share[]> {
  const rows = await reader
    .tables<ShareTables>()
    .selectFrom('shares')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where(isInDoubt)
    .where(marked(mark))
    .orderBy('share_id')
    .limit(limit)
    .execute()
  return rows.map(toShare)
}

/** Lets a share count again. */
export async function confirmShares(
  tx: Writer,
  { shareId, expiresAt }: Pick<Share, 'shareId' | 'expiresAt'>,
): Promise<void> {
  await tx
    .tables<ShareTables>()
    .updateTable('shares')
    .set({ is_derived: 1, expires_at: expiresAt ?? null })
    .where('tenant_id', '=', tx.tenantId)
    .where('share_id', '=', shareId)
    .execute()
}

/** Nothing founds these so far. */
export async function markUnfounded(tx: Writer, shareIds: readonly number[]): Promise<void> {
  for (const ids of chunks(shareIds))
    await tx
      .tables<ShareTables>()
      .updateTable('shares')
      .set({ is_derived: doubtMarks.unfounded })
      .where('tenant_id', '=', tx.tenantId)
      .where('share_id', 'in', ids)
      .execute()
}

/** What nothing founded so far is looked at again, where some of these makers gave it, or anybody. */
export async function lookAgain(tx: Writer, makers: readonly string[] | 'anybody'): Promise<void> {
  const query = tx
    .tables<ShareTables>()
    .updateTable('shares')
    .set({ is_derived: doubtMarks.waiting })
    .where('tenant_id', '=', tx.tenantId)
    .where(isInDoubt)
    .where(marked('unfounded'))
  if (makers === 'anybody') await query.execute()
  else for (const tags of chunks(makers)) await query.where('created_by', 'in', tags).execute()
}

/** NOTE: over all tenants: who has shares in doubt. */
export async function listTenantsInDoubt(reader: Reader): Promise<TenantId[]> {
  const rows = await reader
    .tables<ShareTables>()
    .selectFrom('shares')
    .select('tenant_id')
    .distinct()
    .where(isInDoubt)
    .execute()
  return rows.map((row) => row.tenant_id as TenantId)
}
