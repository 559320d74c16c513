import { type ExpressionBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { type Reader, serverTenant } from '#infra/db/index.ts'
import { type JobRow, type JobState, type JobTables, jobColumns } from './job-tables.ts'
import { recurringKey } from './recurring.ts'

// What people see of jobs.

const mostListed = 1000
/** Counting stops here: an admin need not know which of two dead hosts has more. */
const mostCounted = 10_000

/** A job as a feature or an admin sees it. */
export interface JobRecord extends Omit<JobRow, 'payload'> {
  /** As stored: an earlier version of the program may have written it. */
  readonly payload: unknown
}

export function toRecord(row: JobRow): JobRecord {
  return { ...row, payload: parsed(row.payload) }
}

function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload)
  } catch {
    return undefined
  }
}

/** The jobs of a kind that are about a subject. */
export interface JobSubject {
  readonly kind: string
  readonly subject: string
}

function jobsAbout(reader: Reader, { kind, subject }: JobSubject) {
  return reader
    .tables<JobTables>()
    .selectFrom('jobs')
    .where('tenant_id', '=', reader.tenantId)
    .where('kind', '=', kind)
    .where('subject', '=', subject)
}

/** The reader's jobs of a kind about a subject, in the order they were added; at most 1000. Finished ones are there as
 * long as the kind keeps them, dead ones 30 days. */
export async function listJobs(
  reader: Reader,
  { offset = 0, limit = mostListed, ...about }: JobSubject & { offset?: number; limit?: number },
): Promise<JobRecord[]> {
  const rows = await jobsAbout(reader, about)
    .select(jobColumns)
    .orderBy('job_id')
    .limit(Math.min(limit, mostListed))
    .offset(offset)
    .execute()
  return rows.map(toRecord)
}

/** How many `listJobs` has to list, as far as `atMost`. It counts index entries. */
export async function countJobs(
  reader: Reader,
  { atMost, ...about }: JobSubject & { readonly atMost: number },
): Promise<number> {
  return count(reader, jobsAbout(reader, about), atMost)
}

/** Unfinished jobs of a group, as far as `atMost`: what an intake asks before it lets in more. */
export async function countQueued(
  reader: Reader,
  { kind, groupKey, atMost }: { readonly kind: string; readonly groupKey: string; readonly atMost: number },
): Promise<number> {
  const queued = reader
    .tables<JobTables>()
    .selectFrom('jobs')
    .where('kind', '=', kind)
    .where('group_key', '=', groupKey)
    .where('remove_at_ms', 'is', null)
  return count(reader, queued, atMost)
}

async function count(
  reader: Reader,
  jobs: SelectQueryBuilder<JobTables, 'jobs', object>,
  atMost: number,
): Promise<number> {
  const row = await reader
    .tables<JobTables>()
    .selectFrom(jobs.select('job_id').limit(atMost).as('queued'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirst()
  return row?.count ?? 0
}

/** A group as an admin sees it. */
export interface GroupRecord {
  readonly groupKey: string
  /** In a row. */
  readonly failures: number
  /** The breaker is open until then, and afterwards lets one job try; absent when it is closed. */
  readonly restsUntilMs?: number
  /** When one of its jobs was last begun. */
  readonly lastServedAtMs?: number
  /** Unfinished jobs; counting stops at 10 000. */
  readonly queued: number
  /** When the oldest of those that were counted was added; absent when there are none. */
  readonly oldestAtMs?: number
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
    .select((of) => [
      'of.group_key as groupKey',
      'of.failures',
      'of.rests_until_ms as restsUntilMs',
      'of.served_at_ms as servedAtMs',
      queuedOf(of)
        .select((counted) => counted.fn.countAll<number>().as('count'))
        .as('queued'),
      queuedOf(of)
        .select((counted) => counted.fn.min<number>('queued.job_id').as('oldest'))
        .as('oldestId'),
    ])
    .where('of.kind', '=', page.kind)
    .where('of.group_key', '>', page.afterGroupKey ?? '')
    .$if(page.onlyFailing === true, (query) => query.where('of.failures', '>', 0))
    .orderBy('of.group_key')
    .limit(Math.min(page.limit, mostListed))
    .execute()
  const addedAtMs = await listAddedAtMs(
    reader,
    rows.flatMap(({ oldestId }) => oldestId ?? []),
  )
  return rows.map(({ groupKey, failures, queued, oldestId, restsUntilMs, servedAtMs }) => {
    const oldestAtMs = oldestId === null ? undefined : addedAtMs.get(oldestId)
    return {
      groupKey,
      failures,
      queued: queued ?? 0,
      ...(oldestAtMs === undefined ? {} : { oldestAtMs }),
      ...(restsUntilMs === 0 ? {} : { restsUntilMs }),
      ...(servedAtMs === 0 ? {} : { lastServedAtMs: servedAtMs }),
    }
  })
}

function queuedOf(of: ExpressionBuilder<JobTables & { of: JobTables['job_groups'] }, 'of'>) {
  return of.selectFrom((queued) =>
    queued
      .selectFrom('jobs')
      .select('jobs.job_id')
      .whereRef('jobs.kind', '=', 'of.kind')
      .whereRef('jobs.group_key', '=', 'of.group_key')
      .where('jobs.remove_at_ms', 'is', null)
      .limit(mostCounted)
      .as('queued'),
  )
}

async function listAddedAtMs(
  reader: Reader,
  jobIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (jobIds.length === 0) return new Map()
  const rows = await reader
    .tables<JobTables>()
    .selectFrom('jobs')
    .select(['job_id', 'created_at_ms'])
    .where('job_id', 'in', jobIds)
    .execute()
  return new Map(rows.map((row) => [row.job_id, row.created_at_ms]))
}

export interface StateCount {
  readonly kind: string
  readonly state: JobState
  readonly count: number
  /** It runs every so often: between two runs its one job is not work that waits. */
  readonly isRecurring: boolean
}

/** Unfinished and dead jobs of all tenants by kind and state. It counts index entries: a few ms per 100 000 jobs. */
export async function countByState(reader: Reader): Promise<StateCount[]> {
  assertServer(reader)
  const jobs = reader.tables<JobTables>().selectFrom('jobs')
  const counted = ['kind', 'state', sql<number>`count(*)`.as('count')] as const
  const lists = await Promise.all([
    jobs.select(counted).where('remove_at_ms', 'is', null).groupBy(['kind', 'state']).execute(),
    jobs.select(counted).where('state', '=', sql.lit<JobState>('dead')).groupBy(['kind', 'state']).execute(),
  ])
  const counts = lists.flat()
  const recurringKinds = await listRecurring(
    reader,
    counts.map(({ kind }) => kind),
  )
  return counts.map((count) => ({ ...count, isRecurring: recurringKinds.has(count.kind) }))
}

async function listRecurring(reader: Reader, kinds: readonly string[]): Promise<ReadonlySet<string>> {
  if (kinds.length === 0) return new Set()
  const rows = await reader
    .tables<JobTables>()
    .selectFrom('jobs')
    .select('kind')
    .where('tenant_id', '=', serverTenant)
    .where('kind', 'in', [...new Set(kinds)])
    .where('dedup_key', '=', recurringKey)
    .execute()
  return new Set(rows.map(({ kind }) => kind))
}

export function assertServer(reader: Reader): void {
  if (reader.tenantId !== serverTenant)
    throw new Error('Only a reader of the server sees the jobs of all tenants')
}
