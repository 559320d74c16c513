import type { Writer } from '#infra/db/index.ts'
import { lockKind, promoteBehind } from './job-order-store.ts'
import type { JobTables } from './job-tables.ts'

/** Removes every job of the transaction's tenant, those included that are running: what becomes of them counts for
 * nothing. Jobs of others that waited behind them go on. It looks at all jobs, so it is for the end of a tenant. */
export async function removeJobs(tx: Writer): Promise<void> {
  const tables = tx.tables<JobTables>()
  const kinds = await tables
    .selectFrom('jobs')
    .select('kind')
    .distinct()
    .where('tenant_id', '=', tx.tenantId)
    .orderBy('kind')
    .execute()
  for (const { kind } of kinds) {
    await lockKind(tx, kind)
    await removeOfKind(tx, kind)
  }
}

async function removeOfKind(tx: Writer, kind: string): Promise<void> {
  const tables = tx.tables<JobTables>()
  const groups = await tables
    .selectFrom('jobs')
    .select('group_key')
    .distinct()
    .where('tenant_id', '=', tx.tenantId)
    .where('kind', '=', kind)
    .where('group_key', 'is not', null)
    .execute()
  const remove = tables.deleteFrom('jobs').where('tenant_id', '=', tx.tenantId).where('kind', '=', kind)
  // The heads of orders go last, so that none of the others is promoted.
  await remove.where('state', 'in', ['new', 'waiting', 'done', 'dead']).execute()
  const heads = await tables
    .selectFrom('jobs')
    .select('job_id')
    .where('tenant_id', '=', tx.tenantId)
    .where('kind', '=', kind)
    .where('ordering_key', 'is not', null)
    .execute()
  for (const { job_id } of heads) await promoteBehind(tx, { jobIds: [job_id] })
  await remove.execute()
  // A group that looks due is looked at by the next runner, which finds out how it stands.
  for (const { group_key } of groups)
    await tables
      .updateTable('job_groups')
      .set({ claim_at_ms: 0 })
      .where('kind', '=', kind)
      .where('group_key', '=', group_key)
      .execute()
}
