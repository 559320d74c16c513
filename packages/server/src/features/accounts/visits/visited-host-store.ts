import type { IdTag } from '@kith/protocol'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'

interface VisitTables {
  visited_hosts: {
    tenant_id: TenantId
    target: IdTag
    sid: string
    name: string
    /** Unix seconds, of the first visit. */
    visited_at: number
    ends_at: number | null
  }
}

/** Where a session of an owner is shown. */
export interface VisitKey {
  readonly target: IdTag
  readonly sid: string
}

/** A session of an owner in which proxy tokens for the host of another identity were given out, with its name there. */
export interface VisitedHost extends VisitKey {
  readonly name: string
}

const columns = ['target', 'sid', 'name'] as const

const rowsOf = (reader: Reader) =>
  reader.tables<VisitTables>().selectFrom('visited_hosts').where('tenant_id', '=', reader.tenantId)

const deletionOf = (tx: Writer) =>
  tx.tables<VisitTables>().deleteFrom('visited_hosts').where('tenant_id', '=', tx.tenantId)

export async function findVisit(reader: Reader, { target, sid }: VisitKey): Promise<VisitedHost | undefined> {
  return await rowsOf(reader)
    .select(columns)
    .where('target', '=', target)
    .where('sid', '=', sid)
    .executeTakeFirst()
}

export async function countVisits(reader: Reader): Promise<number> {
  const { count } = await rowsOf(reader)
    .select((row) => row.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Nothing changes where there is one by now. `endsAt`: of the session, Unix seconds; undefined when it has no end. */
export async function insertVisit(
  tx: Writer,
  visit: VisitedHost,
  { at, endsAt }: { readonly at: number; readonly endsAt: number | undefined },
): Promise<void> {
  await tx
    .tables<VisitTables>()
    .insertInto('visited_hosts')
    .values({ tenant_id: tx.tenantId, ...visit, visited_at: at, ends_at: endsAt ?? null })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Removes the oldest and answers them. */
export async function takeOldestVisits(tx: Writer, count: number): Promise<VisitedHost[]> {
  const oldest = await rowsOf(tx)
    .select(columns)
    .orderBy('visited_at')
    .orderBy('target')
    .limit(count)
    .execute()
  for (const { target, sid } of oldest)
    await deletionOf(tx).where('target', '=', target).where('sid', '=', sid).execute()
  return oldest
}

/** Removes those of a session, of a host, or all of the tenant, and answers them. */
export async function takeVisits(tx: Writer, which: Partial<VisitKey>): Promise<VisitedHost[]> {
  let deletion = deletionOf(tx)
  if (which.sid !== undefined) deletion = deletion.where('sid', '=', which.sid)
  if (which.target !== undefined) deletion = deletion.where('target', '=', which.target)
  return await deletion.returning(columns).execute()
}

/** NOTE: over all tenants: visits in sessions that have ended by their time, `limit` at most. */
export async function listEndedVisits(
  reader: Reader,
  { upTo, limit }: { readonly upTo: number; readonly limit: number },
): Promise<(VisitKey & { readonly tenantId: TenantId })[]> {
  const rows = await reader
    .tables<VisitTables>()
    .selectFrom('visited_hosts')
    .select(['tenant_id', 'target', 'sid'])
    .where('ends_at', '<=', upTo)
    .where('ends_at', 'is not', null)
    .orderBy('ends_at')
    .limit(limit)
    .execute()
  return rows.map(({ tenant_id: tenantId, target, sid }) => ({ tenantId, target, sid }))
}
