import { type Generated, type Selection, sql } from 'kysely'

/** Where a job stands. `new`: added, its place in its order or group is still to be found by a runner. `ready`: may
 * run from `run_at_ms`. `waiting`: behind another of its ordering key. */
export type JobState = 'new' | 'ready' | 'waiting' | 'leased' | 'done' | 'dead'

export interface JobTables {
  jobs: {
    job_id: Generated<number>
    tenant_id: number
    kind: string
    state: JobState
    payload: string
    subject: string | null
    dedup_key: string | null
    ordering_key: string | null
    group_key: string | null
    run_at_ms: number
    attempts: Generated<number>
    last_error: string | null
    last_attempt_at_ms: number | null
    created_at_ms: number
    give_up_at_ms: number | null
    /** Of the process that runs it; null unless the state is `leased`. */
    lease_token: string | null
    /** Set when it is done or dead. */
    remove_at_ms: number | null
  }
  /** One row per process that runs jobs: what it holds is its own until then. */
  job_leases: { lease_token: string; node_id: string; until_ms: number }
  job_groups: {
    kind: string
    group_key: string
    failures: number
    rests_until_ms: number
    served_at_ms: number
    times_served: number
    /** When a runner may next take a job of the group; null while it has none or is busy. */
    claim_at_ms: number | null
  }
}

/** What is read of a job, by all that read jobs. */
export const jobColumns = [
  'job_id as jobId',
  'tenant_id as tenantId',
  'kind',
  'state',
  'payload',
  'subject',
  'dedup_key as dedupKey',
  'ordering_key as orderingKey',
  'group_key as groupKey',
  'run_at_ms as runAtMs',
  'attempts',
  'last_error as lastError',
  'last_attempt_at_ms as lastAttemptAtMs',
  'created_at_ms as createdAtMs',
  'give_up_at_ms as giveUpAtMs',
  'lease_token as leaseToken',
] as const

/** A job as it is stored. Under a lease its dedup key may have a form of its own: see `leaseSet`. */
export type JobRow = Selection<JobTables, 'jobs', (typeof jobColumns)[number]>

/** The order of arrival, in the words of the indexes that are to serve it.
 * NOTE: a planner with outdated statistics would walk the primary key, past every row of the queue, to find a few in
 * the order of `job_id`. No other index has this expression. */
export function inQueueOrder(table: 'jobs' | 'head' | 'next') {
  return sql<number>`${sql.ref(`${table}.job_id`)} + 0`
}
