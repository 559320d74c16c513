import { sql } from 'kysely'
import { type Reader, serverTenant } from '#infra/db/index.ts'
import type { JobState, JobTables } from './job-tables.ts'

// What people see of jobs.

const mostListed = 1000
/** Counting stops here: an admin need not know which of two dead hosts has more. */
const mostCounted = 10_000

/** A job as a feature or an admin sees it; what is absent is not known or does not apply. */
export interface JobRecord {
  readonly jobId: number
  readonly tenantId: number
  readonly kind: string
  readonly state: JobState
  /** As stored: an earlier version of the program may have written it. */
  readonly payload: unknown
  readonly subject?: string
  readonly groupKey?: string
  /** How often it has been tried, the attempt under way included. */
  readonly attempts: number
  readonly lastError?: string
  readonly lastAttemptAtMs?: number
  /** When it may run next: not before this, and not while its group rests. */
  readonly nextAttemptAtMs?: number
  readonly createdAtMs: number
  readonly finishedAtMs?: number
}

const recordColumns = [
  'job_id',
  'tenant_id',
  'kind',
  'state',
  'payload',
  'subject',
  'group_key',
  'attempts',
  'last_error',
  'last_attempt_at_ms',
  'run_at_ms',
  'created_at_ms',
  'finished_at_ms',
] as const

type RecordRow = Omit<
  JobTables['jobs'],
  'job_id' | 'attempts' | 'dedup_key' | 'ordering_key' | 'give_up_at_ms' | 'remove_at_ms' | `lease_${string}`
> & { job_id: number; attempts: number }

function toRecord(row: RecordRow): JobRecord {
  const isOpen = row.state === 'new' || row.state === 'ready' || row.state === 'waiting'
  return {
    jobId: row.job_id,
    tenantId: row.tenant_id,
    kind: row.kind,
    state: row.state,
    payload: parsed(row.payload),
    attempts: row.attempts,
    createdAtMs: row.created_at_ms,
    ...(row.subject === null ? {} : { subject: row.subject }),
    ...(row.group_key === null ? {} : { groupKey: row.group_key }),
    ...(row.last_error === null ? {} : { lastError: row.last_error }),
    ...(row.last_attempt_at_ms === null ? {} : { lastAttemptAtMs: row.last_attempt_at_ms }),
    ...(isOpen ? { nextAttemptAtMs: row.run_at_ms } : {}),
    ...(row.finished_at_ms === null ? {} : { finishedAtMs: row.finished_at_ms }),
  }
}

function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload)
  } catch {
    return undefined
  }
}

/** The reader's jobs of a kind about a subject, in the order they were added; at most 1000, go on after the last
 * `jobId`, or by offset. Finished ones are there as long as the kind keeps them, dead ones 30 days. */
export async function listJobs(
  reader: Reader,
  about: {
    readonly kind: string
    readonly subject: string
    readonly afterJobId?: number
    readonly offset?: number
    readonly limit?: number
  },
): Promise<JobRecord[]> {
  const rows = await reader
    .tables<JobTables>()
    .selectFrom('jobs')
    .select(recordColumns)
    .where('tenant_id', '=', reader.tenantId)
    .where('kind', '=', about.kind)
    .where('subject', '=', about.subject)
    .where('job_id', '>', about.afterJobId ?? 0)
    .orderBy('job_id')
    .limit(Math.min(about.limit ?? mostListed, mostListed))
    .offset(about.offset ?? 0)
    .execute()
  return rows.map(toRecord)
}

/** How many `listJobs` has to list, as far as `atMost`. It counts index entries. */
export async function countJobs(
  reader: Reader,
  about: { readonly kind: string; readonly subject: string; readonly atMost: number },
): Promise<number> {
  const row = await reader
    .tables<JobTables>()
    .selectFrom((eb) =>
      eb
        .selectFrom('jobs')
        .select('job_id')
        .where('tenant_id', '=', reader.tenantId)
        .where('kind', '=', about.kind)
        .where('subject', '=', about.subject)
        .limit(about.atMost)
        .as('counted'),
    )
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirst()
  return row?.count ?? 0
}

/** The dead jobs of all tenants, newest first; only for a reader of the server itself. */
export async function listDead(
  reader: Reader,
  page: { readonly limit: number; readonly beforeJobId?: number; readonly kind?: string },
): Promise<JobRecord[]> {
  assertServer(reader)
  const rows = await reader
    .tables<JobTables>()
    .selectFrom('jobs')
    .select(recordColumns)
    .where('state', '=', sql.lit<JobState>('dead'))
    .$if(page.kind !== undefined, (query) => query.where('kind', '=', page.kind ?? ''))
    .$if(page.beforeJobId !== undefined, (query) => query.where('job_id', '<', page.beforeJobId ?? 0))
    .orderBy('job_id', 'desc')
    .limit(Math.min(page.limit, mostListed))
    .execute()
  return rows.map(toRecord)
}

/** A group as an admin sees it. */
export interface GroupRecord {
  readonly kind: string
  readonly groupKey: string
  /** In a row. */
  readonly failures: number
  /** The breaker is open until then, and afterwards lets one job try; absent when it is closed. */
  readonly restsUntilMs?: number
  /** When one of its jobs was last begun. */
  readonly lastServedAtMs?: number
  /** Unfinished jobs; counting stops at 10 000. */
  readonly queued: number
}

/** The groups of a kind in the order of their keys; `onlyFailing` leaves out those whose last job went well. */
export async function listGroups(
  reader: Reader,
  page: {
    readonly kind: string
    readonly limit: number
    readonly afterGroupKey?: string
    readonly onlyFailing?: boolean
  },
): Promise<GroupRecord[]> {
  assertServer(reader)
  const rows = await reader
    .tables<JobTables>()
    .selectFrom('job_groups as of')
    .select((eb) => [
      'of.kind',
      'of.group_key',
      'of.failures',
      'of.rests_until_ms',
      'of.served_at_ms',
      eb
        .selectFrom((queued) =>
          queued
            .selectFrom('jobs')
            .select('jobs.job_id')
            .whereRef('jobs.kind', '=', 'of.kind')
            .whereRef('jobs.group_key', '=', 'of.group_key')
            .where('jobs.finished_at_ms', 'is', null)
            .limit(mostCounted)
            .as('queued'),
        )
        .select((count) => count.fn.countAll<number>().as('count'))
        .as('queued'),
    ])
    .where('of.kind', '=', page.kind)
    .$if(page.afterGroupKey !== undefined, (query) =>
      query.where('of.group_key', '>', page.afterGroupKey ?? ''),
    )
    .$if(page.onlyFailing === true, (query) => query.where('of.failures', '>', 0))
    .orderBy('of.group_key')
    .limit(Math.min(page.limit, mostListed))
    .execute()
  return rows.map((row) => ({
    kind: row.kind,
    groupKey: row.group_key,
    failures: row.failures,
    queued: row.queued ?? 0,
    ...(row.rests_until_ms === 0 ? {} : { restsUntilMs: row.rests_until_ms }),
    ...(row.served_at_ms === 0 ? {} : { lastServedAtMs: row.served_at_ms }),
  }))
}

/** Unfinished jobs of a group, as far as `atMost`: what an intake asks before it lets in more. */
export async function countQueued(
  reader: Reader,
  group: { readonly kind: string; readonly groupKey: string; readonly atMost: number },
): Promise<number> {
  const row = await reader
    .tables<JobTables>()
    .selectFrom((eb) =>
      eb
        .selectFrom('jobs')
        .select('job_id')
        .where('kind', '=', group.kind)
        .where('group_key', '=', group.groupKey)
        .where('finished_at_ms', 'is', null)
        .limit(group.atMost)
        .as('queued'),
    )
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirst()
  return row?.count ?? 0
}

export interface StateCount {
  readonly kind: string
  readonly state: JobState
  readonly count: number
}

/** Unfinished and dead jobs of all tenants by kind and state. It counts index entries: a few ms per 100 000 jobs. */
export async function countByState(reader: Reader): Promise<StateCount[]> {
  assertServer(reader)
  const jobs = reader.tables<JobTables>().selectFrom('jobs')
  const counted = ['kind', 'state', sql<number>`count(*)`.as('count')] as const
  const lists = await Promise.all([
    jobs.select(counted).where('finished_at_ms', 'is', null).groupBy(['kind', 'state']).execute(),
    jobs.select(counted).where('state', '=', sql.lit<JobState>('dead')).groupBy(['kind', 'state']).execute(),
  ])
  return lists.flat()
}

function assertServer(reader: Reader): void {
  if (reader.tenantId !== serverTenant)
    throw new Error('Only a reader of the server sees the jobs of all tenants')
}
