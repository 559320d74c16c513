import { sql } from 'kysely'
import {
  type Placeholder,
  type Reader,
  type ReadTables,
  statement,
  type WriteTables,
} from '#infra/db/index.ts'
import { inQueueOrder, type JobState, type JobTables } from './job-tables.ts'

/** What there is to do for a kind, and when; null where there is nothing. */
export interface DueWork {
  readonly kind: string
  /** The earliest job without a group that is ready. */
  readonly readyAtMs: number | null
  /** A job that was added and has no place yet. */
  readonly newJobId: number | null
  /** The earliest time at which a group may be given a job. */
  readonly groupAtMs: number | null
  /** The earliest end of a lease of another process. */
  readonly lostAtMs: number | null
  /** The earliest end of the time that an unleased job has. */
  readonly giveUpAtMs: number | null
}

interface Own {
  readonly leaseToken: string
}

// Each column is one step into the index made for it.
function dueWork(tables: ReadTables<JobTables>, value: Placeholder<Own>) {
  return tables
    .selectFrom('job_kinds as of')
    .select((eb) => [
      'of.kind',
      eb
        .selectFrom('jobs')
        .select('jobs.run_at_ms')
        .whereRef('jobs.kind', '=', 'of.kind')
        .where('jobs.state', '=', 'ready')
        .where('jobs.group_key', 'is', null)
        .where('jobs.finished_at_ms', 'is', null)
        .orderBy('jobs.run_at_ms')
        .limit(1)
        .as('readyAtMs'),
      eb
        .selectFrom('jobs')
        .select('jobs.job_id')
        .whereRef('jobs.kind', '=', 'of.kind')
        .where('jobs.state', '=', sql.lit<JobState>('new'))
        .orderBy(inQueueOrder('jobs'))
        .limit(1)
        .as('newJobId'),
      eb
        .selectFrom('job_groups')
        .select('job_groups.claim_at_ms')
        .whereRef('job_groups.kind', '=', 'of.kind')
        .where('job_groups.claim_at_ms', 'is not', null)
        .orderBy('job_groups.claim_at_ms')
        .limit(1)
        .as('groupAtMs'),
      eb
        .selectFrom('jobs')
        .select('jobs.lease_until_ms')
        .whereRef('jobs.kind', '=', 'of.kind')
        .where('jobs.lease_until_ms', 'is not', null)
        .where('jobs.lease_token', '!=', value('leaseToken'))
        .orderBy('jobs.lease_until_ms')
        .limit(1)
        .as('lostAtMs'),
      eb
        .selectFrom('jobs')
        .select('jobs.give_up_at_ms')
        .whereRef('jobs.kind', '=', 'of.kind')
        .where('jobs.give_up_at_ms', 'is not', null)
        .where('jobs.finished_at_ms', 'is', null)
        .where('jobs.lease_until_ms', 'is', null)
        .orderBy('jobs.give_up_at_ms')
        .limit(1)
        .as('giveUpAtMs'),
    ])
}

const ofAll = statement((tables: WriteTables<JobTables>, value: Placeholder<Own>) => dueWork(tables, value))

const ofOne = statement((tables: WriteTables<JobTables>, value: Placeholder<Own & { kind: string }>) =>
  dueWork(tables, value).where('of.kind', '=', value('kind')),
)

export async function listDueWork(reader: Reader, own: Own): Promise<DueWork[]> {
  return reader.run(ofAll, own)
}

export async function findDueWork(
  reader: Reader,
  query: Own & { readonly kind: string },
): Promise<DueWork | undefined> {
  return reader.first(ofOne, query)
}

/** When there is next something to do. */
export function nextAtMs(dueWork: DueWork | undefined, nowMs: number): number {
  if (!dueWork) return Number.POSITIVE_INFINITY
  if (dueWork.newJobId !== null) return nowMs
  return Math.min(
    ...[dueWork.readyAtMs, dueWork.groupAtMs, dueWork.lostAtMs, dueWork.giveUpAtMs].map(
      (atMs) => atMs ?? Number.POSITIVE_INFINITY,
    ),
  )
}
