import { sql } from 'kysely'
import { isListed, type Placeholder, statement, type Writer, type WriteTables } from '#infra/db/index.ts'
import type { JobKind } from './job-kind.ts'
import type { LeasedJob } from './job-store.ts'
import type { JobState, JobTables } from './job-tables.ts'
import type { Outcome } from './retry.ts'

type Tables = WriteTables<JobTables>

const withdraw = statement(
  (tables: Tables, value: Placeholder<{ tenantId: number; kind: string; dedupKeys: string }>, dialect) =>
    tables
      .deleteFrom('jobs')
      .where('tenant_id', '=', value('tenantId'))
      .where('kind', '=', value('kind'))
      .where('dedup_key', 'is not', null)
      .where('finished_at_ms', 'is', null)
      .where(isListed(dialect, 'dedup_key', value('dedupKeys')))
      .where('state', '=', sql.lit<JobState>('new'))
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom('jobs as former')
            .select('former.job_id')
            .whereRef('former.tenant_id', '=', 'jobs.tenant_id')
            .whereRef('former.kind', '=', 'jobs.kind')
            .whereRef('former.dedup_key', '=', 'jobs.dedup_key')
            .where('former.dedup_key', 'is not', null)
            .where('former.finished_at_ms', 'is not', null),
        ),
      ),
)

/** Takes back those of the jobs just added whose key a finished one has.
 * NOTE: after the insert, which waits for whoever finishes a job with the key at this moment. */
export async function withdrawRepeated(
  tx: Writer,
  kind: string,
  dedupKeys: readonly string[],
): Promise<void> {
  if (dedupKeys.length > 0)
    await tx.change(withdraw, { tenantId: tx.tenantId, kind, dedupKeys: JSON.stringify(dedupKeys) })
}

const takeBack = statement(
  (tables: Tables, value: Placeholder<{ jobId: number; leaseToken: string; dedupKey: string }>) =>
    tables
      .updateTable('jobs')
      .set({ dedup_key: value('dedupKey') })
      .where('job_id', '=', value('jobId'))
      .where('lease_token', '=', value('leaseToken'))
      .where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom('jobs as twin')
              .select('twin.job_id')
              .whereRef('twin.tenant_id', '=', 'jobs.tenant_id')
              .whereRef('twin.kind', '=', 'jobs.kind')
              .where('twin.dedup_key', '=', value('dedupKey'))
              .where('twin.dedup_key', 'is not', null)
              .where('twin.finished_at_ms', 'is', null),
          ),
        ),
      ),
)

interface Run {
  readonly job: LeasedJob
  readonly outcome: Outcome
}

/** Gives jobs that are to run again their dedup keys back. One whose key another has taken meanwhile is done. */
export async function takeBackKeys(tx: Writer, kind: JobKind, runs: readonly Run[]): Promise<readonly Run[]> {
  if (!kind.freesDedupKey) return runs
  const settled: Run[] = []
  for (const run of runs) {
    const { job, outcome } = run
    const dedupKey = freedKey(job)
    const isAgain = outcome.kind === 'retry' || outcome.kind === 'released'
    const isSuperseded =
      isAgain && dedupKey !== undefined && (await tx.change(takeBack, { ...job, dedupKey })) === 0
    settled.push(isSuperseded ? { job, outcome: { kind: 'done' } } : run)
  }
  return settled
}

/** The key that a job has let go of when it was leased. */
function freedKey({ jobId, dedupKey }: LeasedJob): string | undefined {
  const ending = ` ${jobId}`
  return dedupKey?.endsWith(ending) ? dedupKey.slice(0, -ending.length) : undefined
}
