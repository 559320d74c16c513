import { sql } from 'kysely'
import type { Writer } from '#infra/db/index.ts'
import { insertJobs } from './job-store.ts'
import { type JobState, type JobTables, jobColumns } from './job-tables.ts'

const isDead = sql.lit<JobState>('dead')

/** Puts a new job in the place of a dead one, of whatever tenant: with all attempts, and as much time as it had. Answers its
 * kind, and undefined when there is no such dead job. Where an unfinished job has its dedup key, that one does the work. */
export async function reviveDead(tx: Writer, jobId: number, nowMs: number): Promise<string | undefined> {
  const job = await takeDead(tx, jobId)
  if (!job) return undefined
  const { tenantId, kind, payload, subject, dedupKey, orderingKey, groupKey, giveUpAtMs, createdAtMs } = job
  await insertJobs(tx, [
    {
      ...{ tenantId, kind, payload, subject, dedupKey, orderingKey, groupKey },
      runAtMs: nowMs,
      createdAtMs: nowMs,
      giveUpAtMs: giveUpAtMs === null ? null : nowMs + giveUpAtMs - createdAtMs,
    },
  ])
  return kind
}

/** False when there is no such dead job. */
export async function removeDead(tx: Writer, jobId: number): Promise<boolean> {
  return (await takeDead(tx, jobId)) !== undefined
}

// A dead job has left its order and its group.
async function takeDead(tx: Writer, jobId: number) {
  return await tx
    .tables<JobTables>()
    .deleteFrom('jobs')
    .where('job_id', '=', jobId)
    .where('state', '=', isDead)
    .returning(jobColumns)
    .executeTakeFirst()
}
