import { sql } from 'kysely'
import {
  forUpdateSkipLocked,
  type Placeholder,
  statement,
  type Writer,
  type WriteTables,
} from '#infra/db/index.ts'
import type { JobTables } from './job-tables.ts'

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

/** Who leases, and until when. */
export interface LeaseTerms {
  readonly kind: string
  readonly nowMs: number
  readonly limit: number
  readonly leaseUntilMs: number
  /** The node survives a restart of its process; the token does not. */
  readonly leaseNode: string
  readonly leaseToken: string
  /** 1 where the jobs let go of their dedup keys. */
  readonly freesDedupKey: number
}

/** A job that a runner may run. */
export interface LeasedJob {
  readonly jobId: number
  readonly tenantId: number
  readonly payload: string
  readonly attempts: number
  readonly orderingKey: string | null
  readonly groupKey: string | null
  readonly runAtMs: number
  readonly createdAtMs: number
  readonly giveUpAtMs: number | null
  readonly leaseToken: string
  /** As it is stored under the lease: see `leaseSet`. */
  readonly dedupKey: string | null
  readonly lastError: string | null
}

/** Rows of one insert: 12 values each, far below the limits of both databases. */
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

export const leasedColumns = [
  'job_id as jobId',
  'tenant_id as tenantId',
  'payload',
  'attempts',
  'ordering_key as orderingKey',
  'group_key as groupKey',
  'run_at_ms as runAtMs',
  'created_at_ms as createdAtMs',
  'give_up_at_ms as giveUpAtMs',
  'lease_token as leaseToken',
  'dedup_key as dedupKey',
  'last_error as lastError',
] as const

/** What a row is set to when it is leased. */
export function leaseSet(value: Placeholder<LeaseTerms>) {
  return {
    state: 'leased' as const,
    attempts: sql<number>`attempts + 1`,
    last_attempt_at_ms: value('nowMs'),
    lease_until_ms: value('leaseUntilMs'),
    lease_node: value('leaseNode'),
    lease_token: value('leaseToken'),
    // A key that is let go of is kept in a form of its own, so that the job can take it back.
    dedup_key: sql<string | null>`case when ${value('freesDedupKey')} = 1 and dedup_key is not null
      then dedup_key || ' ' || job_id else dedup_key end`,
  }
}

const noLease = { lease_until_ms: null, lease_node: null, lease_token: null } as const

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
          .where('finished_at_ms', 'is', null)
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
    .returning(leasedColumns),
)

/** Leases jobs without a group that are due, oldest first. */
export async function leasePlainJobs(tx: Writer, terms: LeaseTerms): Promise<LeasedJob[]> {
  return asLeased(await tx.run(leasePlain, terms))
}

/** The rows of a leasing statement, oldest first: databases return changed rows in any order. */
export function asLeased(rows: readonly (Omit<LeasedJob, 'leaseToken'> & { leaseToken: string | null })[]) {
  return rows
    .map((row) => ({ ...row, leaseToken: row.leaseToken ?? '' }))
    .sort((a, b) => a.runAtMs - b.runAtMs || a.jobId - b.jobId)
}

const renew = statement(
  (tables: Tables, value: Placeholder<{ kind: string; leaseToken: string; leaseUntilMs: number }>) =>
    tables
      .updateTable('jobs')
      .set({ lease_until_ms: value('leaseUntilMs') })
      .where('kind', '=', value('kind'))
      .where('lease_until_ms', 'is not', null)
      .where('lease_token', '=', value('leaseToken'))
      .returning('job_id as jobId'),
)

/** Prolongs all leases of a process on jobs of a kind, and answers which it still has. */
export async function renewLeases(
  tx: Writer,
  lease: { kind: string; leaseToken: string; leaseUntilMs: number },
): Promise<Set<number>> {
  return new Set((await tx.run(renew, lease)).map(({ jobId }) => jobId))
}

/** Ends the leases of former processes of this node: whoever starts as the same node has taken their place. */
export async function expireFormerLeases(
  tx: Writer,
  own: { leaseNode: string; leaseToken: string },
): Promise<void> {
  await tx
    .tables<JobTables>()
    .updateTable('jobs')
    .set({ lease_until_ms: 0 })
    .where('lease_until_ms', 'is not', null)
    .where('lease_node', '=', own.leaseNode)
    .where('lease_token', '!=', own.leaseToken)
    .execute()
}

const lost = statement((tables: Tables, value: Placeholder<{ kind: string; nowMs: number; limit: number }>) =>
  tables
    .selectFrom('jobs')
    .select(leasedColumns)
    .where('kind', '=', value('kind'))
    .where('lease_until_ms', '<=', value('nowMs'))
    .orderBy('lease_until_ms')
    .limit(value('limit')),
)

/** Jobs whose lease ran out. A process renews its own leases before it asks. */
export async function listLostJobs(
  tx: Writer,
  query: { readonly kind: string; readonly nowMs: number; readonly limit: number },
): Promise<LeasedJob[]> {
  return asLeased(await tx.run(lost, query))
}

/** The jobs of one lease token. */
export interface Leases {
  readonly jobIds: readonly number[]
  readonly leaseToken: string
}

/** How jobs end. */
export interface Ending {
  readonly nowMs: number
  readonly removeAtMs: number
  /** 1 where finished jobs keep others with their dedup keys out. */
  readonly keepsKey: number
}

/** This and the next change only rows that are still under the lease. */
export async function markDone(
  tx: Writer,
  { jobIds, leaseToken }: Leases,
  { nowMs, removeAtMs, keepsKey }: Ending,
): Promise<void> {
  const tables = tx.tables<JobTables>()
  if (removeAtMs === nowMs)
    await tables
      .deleteFrom('jobs')
      .where('job_id', 'in', jobIds)
      .where('lease_token', '=', leaseToken)
      .execute()
  else
    await tables
      .updateTable('jobs')
      .set({
        ...noLease,
        state: 'done',
        last_error: null,
        finished_at_ms: nowMs,
        remove_at_ms: removeAtMs,
        ...(keepsKey === 1 ? {} : { dedup_key: null }),
      })
      .where('job_id', 'in', jobIds)
      .where('lease_token', '=', leaseToken)
      .execute()
}

interface LeasedRow {
  readonly jobId: number
  readonly leaseToken: string
}

interface Again {
  readonly atMs: number
  readonly attempts: number
  readonly error: string | null
}

const requeue = statement((tables: Tables, value: Placeholder<LeasedRow & Again>) =>
  tables
    .updateTable('jobs')
    .set({
      ...noLease,
      state: 'ready',
      run_at_ms: value('atMs'),
      attempts: value('attempts'),
      last_error: value('error'),
    })
    .where('job_id', '=', value('jobId'))
    .where('lease_token', '=', value('leaseToken')),
)

/** Puts a job back to run at `atMs`: after a failure, for its next period, or as if the attempt had not begun. */
export async function requeueJob(tx: Writer, job: LeasedRow & Again): Promise<void> {
  await tx.change(requeue, job)
}

const dead = statement((tables: Tables, value: Placeholder<LeasedRow & Ending & { error: string }>) =>
  tables
    .updateTable('jobs')
    .set({
      ...noLease,
      state: 'dead',
      last_error: value('error'),
      finished_at_ms: value('nowMs'),
      remove_at_ms: value('removeAtMs'),
      dedup_key: sql<string | null>`case when ${value('keepsKey')} = 1 then dedup_key end`,
    })
    .where('job_id', '=', value('jobId'))
    .where('lease_token', '=', value('leaseToken')),
)

export async function markDead(
  tx: Writer,
  job: LeasedRow & Ending & { readonly error: string },
): Promise<void> {
  await tx.change(dead, job)
}

const takeBack = statement((tables: Tables, value: Placeholder<LeasedRow & { dedupKey: string }>) =>
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
            .where('twin.dedup_key', '=', value('dedupKey')),
        ),
      ),
    ),
)

/** Gives a leased job the dedup key back that it let go of; false where another has it by now. */
export async function takeBackKey(tx: Writer, job: LeasedJob): Promise<boolean> {
  const ending = ` ${job.jobId}`
  if (!job.dedupKey?.endsWith(ending)) return true
  const dedupKey = job.dedupKey.slice(0, -ending.length)
  return (await tx.change(takeBack, { ...job, dedupKey })) > 0
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
