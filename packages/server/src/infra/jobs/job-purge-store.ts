import { sql } from 'kysely'
import type { Writer } from '#infra/db/index.ts'
import type { JobKind } from './job-kind.ts'
import { lockKind } from './job-order-store.ts'
import type { JobTables } from './job-tables.ts'

/** Removes every job of the transaction's tenant, those included that are running: what becomes of them counts for
 * nothing. Jobs of others that waited behind them go on. It looks at all jobs, so it is for the end of a tenant. */
export async function removeJobs(tx: Writer): Promise<void> {
  const kinds = await tx
    .tables<JobTables>()
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

/** The same with the jobs of one kind about one subject. */
export async function removeJobsAbout(
  tx: Writer,
  { name }: Pick<JobKind, 'name'>,
  subject: string,
): Promise<void> {
  await lockKind(tx, name)
  await removeOfKind(tx, name, subject)
}

async function removeOfKind(tx: Writer, kind: string, subject?: string): Promise<void> {
  const tables = tx.tables<JobTables>()
  const own = tables
    .selectFrom('jobs')
    .where('tenant_id', '=', tx.tenantId)
    .where('kind', '=', kind)
    .$if(subject !== undefined, (jobs) => jobs.where('subject', '=', subject ?? ''))
  // The next runner finds their places once more, and how a group stands that looks due.
  await tables
    .updateTable('jobs')
    .set({ state: 'new' })
    .where('kind', '=', kind)
    .where('state', '=', 'waiting')
    .where('remove_at_ms', 'is', null)
    .where('ordering_key', 'in', own.select('ordering_key').where('ordering_key', 'is not', null))
    .execute()
  await tables
    .updateTable('job_groups')
    .set({ claim_at_ms: 0 })
    .where('kind', '=', kind)
    .where(
      'group_key',
      'in',
      own.select(sql<string>`group_key`.as('group_key')).where('group_key', 'is not', null),
    )
    .execute()
  await tables.deleteFrom('jobs').where('job_id', 'in', own.select('job_id')).execute()
}
