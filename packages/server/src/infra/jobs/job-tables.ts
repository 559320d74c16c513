import { type Generated, sql } from 'kysely'

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
  /** One row per kind: the lock under which its ordered and grouped jobs are arranged. */
  job_kinds: { kind: string }
}

/** The order of arrival, in the words of the indexes that are to serve it.
 * NOTE: a planner with outdated statistics would walk the primary key, past every row of the queue, to find a few in
 * the order of `job_id`. No other index has this expression. */
export function inQueueOrder(table: 'jobs' | 'head' | 'next') {
  return sql<number>`${sql.ref(`${table}.job_id`)} + 0`
}
