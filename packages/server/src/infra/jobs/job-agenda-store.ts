import { sql } from 'kysely'
import {
  type Placeholder,
  type Reader,
  type ReadTables,
  statement,
  type WriteTables,
} from '#infra/db/index.ts'
import { byArrival, type JobState, type JobTables } from './job-tables.ts'

/** What there is to do for a kind, and when; null where there is nothing. */
export interface Agenda {
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
function agenda(tables: ReadTables<JobTables>, value: Placeholder<Own>) {
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
        .orderBy(byArrival('jobs'))
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

const ofAll = statement((tables: WriteTables<JobTables>, value: Placeholder<Own>) => agenda(tables, value))

const ofOne = statement((tables: WriteTables<JobTables>, value: Placeholder<Own & { kind: string }>) =>
  agenda(tables, value).where('of.kind', '=', value('kind')),
)

export async function listAgendas(reader: Reader, own: Own): Promise<Agenda[]> {
  return reader.run(ofAll, own)
}

export async function findAgenda(
  reader: Reader,
  query: Own & { readonly kind: string },
): Promise<Agenda | undefined> {
  return reader.first(ofOne, query)
}

/** When there is next something to do. */
export function nextAtMs(agenda: Agenda | undefined, nowMs: number): number {
  if (!agenda) return Number.POSITIVE_INFINITY
  if (agenda.newJobId !== null) return nowMs
  return Math.min(
    ...[agenda.readyAtMs, agenda.groupAtMs, agenda.lostAtMs, agenda.giveUpAtMs].map(
      (atMs) => atMs ?? Number.POSITIVE_INFINITY,
    ),
  )
}
