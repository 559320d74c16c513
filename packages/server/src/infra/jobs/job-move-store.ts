import type { Reader, Writer } from '#infra/db/index.ts'
import { insertJobs, type NewJob } from './job-store.ts'
import type { JobTables } from './job-tables.ts'

/** A job that has not ended, as it goes from one server to another with its tenant. */
export type MovedJob = Omit<NewJob, 'tenantId'>

/** The unfinished jobs of the reader's tenant in the order they were added; go on after the last `jobId`. */
export async function listOpenJobs(
  reader: Reader,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<(MovedJob & { readonly jobId: number })[]> {
  return reader
    .tables<JobTables>()
    .selectFrom('jobs')
    .select([
      'job_id as jobId',
      'kind',
      'payload',
      'subject',
      'dedup_key as dedupKey',
      'ordering_key as orderingKey',
      'group_key as groupKey',
      'run_at_ms as runAtMs',
      'created_at_ms as createdAtMs',
      'give_up_at_ms as giveUpAtMs',
    ])
    .where('tenant_id', '=', reader.tenantId)
    .where('remove_at_ms', 'is', null)
    .where('job_id', '>', after)
    .orderBy('job_id')
    .limit(limit)
    .execute()
}

/** Adds jobs that were brought along, with all their attempts before them; a running server finds them at its next look.
 * They take their places in orders and groups behind what is there. */
export async function addMovedJobs(tx: Writer, jobs: readonly MovedJob[]): Promise<void> {
  await insertJobs(
    tx,
    jobs.map((job) => ({ ...job, tenantId: tx.tenantId })),
  )
}
