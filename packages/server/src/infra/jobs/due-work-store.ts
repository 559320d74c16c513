import { type RawBuilder, sql } from 'kysely'
import {
  listedTexts,
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

const kindOf = sql.ref<string>('of.value')

interface Own {
  readonly leaseToken: string
}

type Tables = ReadTables<JobTables>

// Each column is one step into the index made for it.
function dueWorkOf(kinds: RawBuilder<{ value: string }>, tables: Tables, value: Placeholder<Own>) {
  return tables
    .selectFrom(kinds.as('of'))
    .select([
      'of.value as kind',
      firstReady(tables).as('readyAtMs'),
      firstNew(tables).as('newJobId'),
      firstGroup(tables).as('groupAtMs'),
      firstLost(tables, value).as('lostAtMs'),
      firstOverdue(tables).as('giveUpAtMs'),
    ])
}

function firstReady(tables: Tables) {
  return (
    tables
      .selectFrom('jobs')
      .select('jobs.run_at_ms')
      .where('jobs.kind', '=', kindOf)
      .where('jobs.state', '=', 'ready')
      .where('jobs.group_key', 'is', null)
      .where('jobs.remove_at_ms', 'is', null)
      // All null, but so PostgreSQL knows that the index has this order.
      .orderBy('jobs.group_key')
      .orderBy('jobs.run_at_ms')
      .limit(1)
  )
}

function firstNew(tables: Tables) {
  return tables
    .selectFrom('jobs')
    .select('jobs.job_id')
    .where('jobs.kind', '=', kindOf)
    .where('jobs.state', '=', sql.lit<JobState>('new'))
    .orderBy(inQueueOrder('jobs'))
    .limit(1)
}

function firstGroup(tables: Tables) {
  return tables
    .selectFrom('job_groups')
    .select('job_groups.claim_at_ms')
    .where('job_groups.kind', '=', kindOf)
    .where('job_groups.claim_at_ms', 'is not', null)
    .orderBy('job_groups.claim_at_ms')
    .limit(1)
}

// A lease without a row has run out.
function firstLost(tables: Tables, value: Placeholder<Own>) {
  return tables
    .selectFrom('jobs')
    .select((eb) => {
      const untilMs = eb
        .selectFrom('job_leases')
        .select('job_leases.until_ms')
        .whereRef('job_leases.lease_token', '=', 'jobs.lease_token')
      return eb.fn.min<number>(eb.fn.coalesce(untilMs, sql.lit(0))).as('untilMs')
    })
    .where('jobs.kind', '=', kindOf)
    .where('jobs.lease_token', 'is not', null)
    .where('jobs.lease_token', '!=', value('leaseToken'))
}

function firstOverdue(tables: Tables) {
  return tables
    .selectFrom('jobs')
    .select('jobs.give_up_at_ms')
    .where('jobs.kind', '=', kindOf)
    .where('jobs.give_up_at_ms', 'is not', null)
    .where('jobs.remove_at_ms', 'is', null)
    .where('jobs.lease_token', 'is', null)
    .orderBy('jobs.give_up_at_ms')
    .limit(1)
}

const ofMany = statement(
  (tables: WriteTables<JobTables>, value: Placeholder<Own & { kinds: string }>, dialect) =>
    dueWorkOf(listedTexts(dialect, value('kinds')), tables, value),
)

// A list costs a tenth of what a poll does.
const ofOne = statement((tables: WriteTables<JobTables>, value: Placeholder<Own & { kind: string }>) =>
  dueWorkOf(sql`(select cast(${value('kind')} as text) as value)`, tables, value),
)

/** What there is to do for each of some kinds, for the process that has the lease. */
export async function listDueWork(
  reader: Reader,
  { kinds, leaseToken }: Own & { readonly kinds: readonly string[] },
): Promise<DueWork[]> {
  return reader.run(ofMany, { kinds: JSON.stringify(kinds), leaseToken })
}

export async function findDueWork(
  reader: Reader,
  own: Own & { readonly kind: string },
): Promise<DueWork | undefined> {
  return reader.first(ofOne, own)
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
