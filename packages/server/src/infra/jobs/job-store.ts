import { sql } from 'kysely'
import {
  forUpdateSkipLocked,
  type Placeholder,
  statement,
  type Writer,
  type WriteTables,
} from '#infra/db/index.ts'
import { type JobRow, type JobTables, jobColumns } from './job-tables.ts'

// The life of single jobs: added, leased, finished. Their order and their groups are in the stores beside this.

type Tables = WriteTables<JobTables>

export interface NewJob {
  readonly tenantId: number
  readonly kind: string
  readonly payload: string
  readonly subject: string | null
  readonly dedupKey: string | null
  readonly orderingKey: string | null
  readonly groupKey: string | null
  readonly runAtMs: number
  readonly createdAtMs: number
  readonly giveUpAtMs: number | null
}

/** What is leased, and by which process. */
export interface LeaseTerms {
  readonly kind: string
  readonly nowMs: number
  readonly limit: number
  readonly leaseToken: string
  /** 1 where the jobs let go of their dedup keys. */
  readonly freesDedupKey: number
}

/** Rows of one insert: 11 values each, far below the limits of both databases. */
const rowsPerInsert = 250

/** Adds jobs in their order; leaves out those whose dedup key is taken. */
export async function insertJobs(tx: Writer, jobs: readonly NewJob[]): Promise<void> {
  for (let from = 0; from < jobs.length; from += rowsPerInsert)
    await tx
      .tables<JobTables>()
      .insertInto('jobs')
      .values(
        jobs.slice(from, from + rowsPerInsert).map((job) => ({
          tenant_id: job.tenantId,
          kind: job.kind,
          state: startsNew(job) ? ('new' as const) : ('ready' as const),
          payload: job.payload,
          subject: job.subject,
          dedup_key: job.dedupKey,
          ordering_key: job.orderingKey,
          group_key: job.groupKey,
          run_at_ms: job.runAtMs,
          created_at_ms: job.createdAtMs,
          give_up_at_ms: job.giveUpAtMs,
        })),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute()
}

/** A transaction of a feature does not touch what others of the same order or group touch: on PostgreSQL they would
 * run into each other. A runner arranges such jobs afterwards. */
function startsNew(job: Pick<NewJob, 'orderingKey' | 'groupKey'>): boolean {
  return job.orderingKey !== null || job.groupKey !== null
}

/** What a row is set to when it is leased. */
export function leaseSet(value: Placeholder<LeaseTerms>) {
  return {
    state: 'leased' as const,
    attempts: sql<number>`attempts + 1`,
    last_attempt_at_ms: value('nowMs'),
    lease_token: value('leaseToken'),
    // A key that is let go of is kept in a form of its own, so that the job can take it back.
    dedup_key: sql<string | null>`case when ${value('freesDedupKey')} = 1 and dedup_key is not null
      then dedup_key || ' ' || job_id else dedup_key end`,
  }
}

const leasePlain = statement((tables: Tables, value: Placeholder<LeaseTerms>, dialect) =>
  tables
    .with('picked', (picked) =>
      forUpdateSkipLocked(
        dialect,
        picked
          .selectFrom('jobs')
          .select('job_id')
          .where('kind', '=', value('kind'))
          .where('state', '=', 'ready')
          .where('group_key', 'is', null)
          .where('remove_at_ms', 'is', null)
          .where('run_at_ms', '<=', value('nowMs'))
          // All null, but so PostgreSQL knows that the index has this order.
          .orderBy('group_key')
          .orderBy('run_at_ms')
          .orderBy('job_id')
          .limit(value('limit')),
      ),
    )
    .updateTable('jobs')
    .set(leaseSet(value))
    .where('job_id', 'in', (eb) => eb.selectFrom('picked').select('picked.job_id'))
    .returning(jobColumns),
)

/** Leases jobs without a group that are due, oldest first. */
export async function leasePlainJobs(tx: Writer, terms: LeaseTerms): Promise<JobRow[]> {
  return asLeased(await tx.run(leasePlain, terms))
}

/** The rows of a leasing statement, oldest first: databases return changed rows in any order. */
export function asLeased(rows: JobRow[]): JobRow[] {
  return rows.sort((a, b) => a.runAtMs - b.runAtMs || a.jobId - b.jobId)
}

interface ExpiredQuery {
  readonly kind: string
  readonly nowMs: number
  readonly limit: number
}

const lost = statement((tables: Tables, value: Placeholder<ExpiredQuery>) =>
  tables
    .selectFrom('jobs')
    .select(jobColumns)
    .where('kind', '=', value('kind'))
    .where('lease_token', 'is not', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('job_leases')
            .select('job_leases.until_ms')
            .whereRef('job_leases.lease_token', '=', 'jobs.lease_token'),
        ),
      ),
    )
    .limit(value('limit')),
)

/** Jobs of processes whose leases were ended. */
export async function listLostJobs(tx: Writer, query: ExpiredQuery): Promise<JobRow[]> {
  return asLeased(await tx.run(lost, query))
}

const overdue = statement((tables: Tables, value: Placeholder<ExpiredQuery>) =>
  tables
    .selectFrom('jobs')
    .select(jobColumns)
    .where('kind', '=', value('kind'))
    .where('give_up_at_ms', '<=', value('nowMs'))
    .where('remove_at_ms', 'is', null)
    .where('lease_token', 'is', null)
    .orderBy('give_up_at_ms')
    .limit(value('limit')),
)

/** Unleased jobs whose time is over. */
export async function listOverdueJobs(tx: Writer, query: ExpiredQuery): Promise<JobRow[]> {
  return tx.run(overdue, query)
}

/** Jobs that end alike. */
export interface EndedJobs {
  readonly jobIds: readonly number[]
  /** Only rows that are still under this lease, or under none, are changed. */
  readonly leaseToken: string | null
  /** Null for those that went well. */
  readonly error: string | null
  readonly nowMs: number
  /** How long they are kept; 0 removes them at once. */
  readonly keepMs: number
  /** Whether they keep others with their dedup keys out meanwhile. */
  readonly keepsDedupKey: boolean
}

export async function endJobs(tx: Writer, ended: EndedJobs): Promise<void> {
  const { jobIds, leaseToken, error, nowMs, keepMs } = ended
  const tables = tx.tables<JobTables>()
  const isHeld =
    leaseToken === null ? sql<boolean>`lease_token is null` : sql<boolean>`lease_token = ${leaseToken}`
  if (keepMs === 0) await tables.deleteFrom('jobs').where('job_id', 'in', jobIds).where(isHeld).execute()
  else
    await tables
      .updateTable('jobs')
      .set({
        lease_token: null,
        state: error === null ? 'done' : 'dead',
        last_error: error,
        remove_at_ms: nowMs + keepMs,
        ...(ended.keepsDedupKey ? {} : { dedup_key: null }),
      })
      .where('job_id', 'in', jobIds)
      .where(isHeld)
      .execute()
}

interface Again {
  readonly jobId: number
  readonly leaseToken: string | null
  readonly dedupKey: string | null
  readonly atMs: number
  readonly attempts: number
  readonly error: string | null
}

const requeue = statement((tables: Tables, value: Placeholder<Again>) =>
  tables
    .updateTable('jobs')
    .set({
      lease_token: null,
      state: 'ready',
      run_at_ms: value('atMs'),
      attempts: value('attempts'),
      last_error: value('error'),
      dedup_key: value('dedupKey'),
    })
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
            .whereRef('twin.job_id', '!=', 'jobs.job_id'),
        ),
      ),
    ),
)

/** Puts a job back to run at `atMs`, with the dedup key it was added with: after a failure, for its next period, or as
 * if the attempt had not begun. False where another has the key by now, or the lease was lost. */
export async function requeueJob(tx: Writer, again: Again): Promise<boolean> {
  return (await tx.change(requeue, again)) > 0
}

/** The dedup key with which a leased job was added: see `leaseSet`. */
export function ownKey({ jobId, dedupKey }: JobRow, isFreed: boolean): string | null {
  return isFreed && dedupKey !== null ? dedupKey.slice(0, -` ${jobId}`.length) : dedupKey
}

/** Brings the next time of a recurring job forward when its period has become shorter. */
export async function runSooner(
  tx: Writer,
  recurring: { readonly kind: string; readonly dedupKey: string; readonly latestMs: number },
): Promise<void> {
  await tx
    .tables<JobTables>()
    .updateTable('jobs')
    .set({ run_at_ms: recurring.latestMs })
    .where('tenant_id', '=', tx.tenantId)
    .where('kind', '=', recurring.kind)
    .where('dedup_key', '=', recurring.dedupKey)
    .where('run_at_ms', '>', recurring.latestMs)
    .execute()
}

const removeOld = statement((tables: Tables, value: Placeholder<{ nowMs: number; limit: number }>) =>
  tables
    .deleteFrom('jobs')
    .where('job_id', 'in', (eb) =>
      eb
        .selectFrom('jobs')
        .select('job_id')
        .where('remove_at_ms', '<=', value('nowMs'))
        .orderBy('remove_at_ms')
        .limit(value('limit')),
    ),
)

/** Removes finished jobs whose time to be read is over; answers how many. */
export async function removeFinished(tx: Writer, query: { nowMs: number; limit: number }): Promise<number> {
  return tx.change(removeOld, query)
}
