import { listedTexts, type Placeholder, statement, type Writer, type WriteTables } from '#infra/db/index.ts'
import { type GroupLoad, type GroupState, newGroup } from './group-breaker.ts'
import { asLeased, type LeaseTerms, leaseSet } from './job-store.ts'
import { type JobRow, type JobTables, jobColumns } from './job-tables.ts'

// NOTE: all of this happens under the lock of the kind. `claim_at_ms` is what makes groups cheap: a runner looks only
// at groups that are due, so the jobs of one that rests or is busy are never looked at.

type Tables = WriteTables<JobTables>

export interface LoadedGroup {
  readonly groupKey: string
  readonly state: GroupState
  readonly load: GroupLoad
}

const load = statement((tables: Tables, value: Placeholder<{ kind: string; groupKeys: string }>, dialect) =>
  tables
    .selectFrom(listedTexts(dialect, value('groupKeys')).as('of'))
    .leftJoin('job_groups', (join) =>
      join.on('job_groups.kind', '=', value('kind')).onRef('job_groups.group_key', '=', 'of.value'),
    )
    .select((eb) => {
      const jobs = eb
        .selectFrom('jobs')
        .where('jobs.kind', '=', value('kind'))
        .whereRef('jobs.group_key', '=', 'of.value')
        .where('jobs.remove_at_ms', 'is', null)
      return [
        'of.value as groupKey',
        'job_groups.failures',
        'job_groups.rests_until_ms as restsUntilMs',
        'job_groups.served_at_ms as servedAtMs',
        'job_groups.times_served as timesServed',
        jobs
          .where('jobs.state', '=', 'leased')
          .select((count) => count.fn.countAll<number>().as('count'))
          .as('running'),
        jobs
          .where('jobs.state', '=', 'ready')
          .select('jobs.run_at_ms')
          .orderBy('jobs.run_at_ms')
          .limit(1)
          .as('readyAtMs'),
      ]
    }),
)

/** What is remembered of groups, and what their jobs are doing. */
export async function loadGroups(
  tx: Writer,
  kind: string,
  groupKeys: readonly string[],
): Promise<LoadedGroup[]> {
  const rows = await tx.run(load, { kind, groupKeys: JSON.stringify(groupKeys) })
  return rows.map(({ groupKey, running, readyAtMs, ...stored }) => ({
    groupKey,
    state: stored.failures === null ? newGroup : (stored as GroupState),
    load: { running: running ?? 0, readyAtMs },
  }))
}

/** Stores groups that were loaded in this transaction, in one statement. */
export async function saveGroups(
  tx: Writer,
  kind: string,
  groups: readonly { groupKey: string; state: GroupState; claimAtMs: number | null }[],
): Promise<void> {
  await tx
    .tables<JobTables>()
    .insertInto('job_groups')
    .values(
      groups.map(({ groupKey, state, claimAtMs }) => ({
        kind,
        group_key: groupKey,
        failures: state.failures,
        rests_until_ms: state.restsUntilMs,
        served_at_ms: state.servedAtMs,
        times_served: state.timesServed,
        claim_at_ms: claimAtMs,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['kind', 'group_key']).doUpdateSet((eb) => ({
        failures: eb.ref('excluded.failures'),
        rests_until_ms: eb.ref('excluded.rests_until_ms'),
        served_at_ms: eb.ref('excluded.served_at_ms'),
        times_served: eb.ref('excluded.times_served'),
        claim_at_ms: eb.ref('excluded.claim_at_ms'),
      })),
    )
    .execute()
}

interface DueQuery {
  readonly kind: string
  readonly nowMs: number
  readonly limit: number
}

function dueGroups(tables: Tables, value: Placeholder<DueQuery>) {
  return tables
    .selectFrom('job_groups')
    .select(['kind', 'group_key'])
    .where('kind', '=', value('kind'))
    .where('claim_at_ms', '<=', value('nowMs'))
    .orderBy('claim_at_ms')
    .orderBy('times_served')
    .orderBy('group_key')
    .limit(value('limit'))
}

const due = statement((tables: Tables, value: Placeholder<DueQuery>) => dueGroups(tables, value))

/** The groups that are due, first the one that has waited longest. */
export async function listDueGroups(tx: Writer, query: DueQuery): Promise<string[]> {
  return (await tx.run(due, query)).map((row) => row.group_key)
}

const leaseOneEach = statement((tables: Tables, value: Placeholder<LeaseTerms>) =>
  tables
    .with('due', () => dueGroups(tables, value))
    .with('picked', (picked) =>
      picked
        .selectFrom('due')
        .select((eb) =>
          eb
            .selectFrom('jobs')
            .select('jobs.job_id')
            .whereRef('jobs.kind', '=', 'due.kind')
            .whereRef('jobs.group_key', '=', 'due.group_key')
            .where('jobs.remove_at_ms', 'is', null)
            .where('jobs.state', '=', 'ready')
            .where('jobs.run_at_ms', '<=', value('nowMs'))
            .orderBy('jobs.run_at_ms')
            .orderBy('jobs.job_id')
            .limit(1)
            .as('jobId'),
        ),
    )
    .updateTable('jobs')
    .set(leaseSet(value))
    .where('job_id', 'in', (eb) => eb.selectFrom('picked').select('picked.jobId'))
    .returning(jobColumns),
)

/** Leases the oldest job that is due of each of the groups that `listDueGroups` answers. */
export async function leaseOneOfEachGroup(tx: Writer, terms: LeaseTerms): Promise<JobRow[]> {
  return asLeased(await tx.run(leaseOneEach, terms))
}

/** Forgets groups that were neither served nor resting since `beforeMs`, and have no job that may run. */
export async function removeIdleGroups(tx: Writer, beforeMs: number): Promise<void> {
  await tx
    .tables<JobTables>()
    .deleteFrom('job_groups')
    .where('claim_at_ms', 'is', null)
    .where('served_at_ms', '<', beforeMs)
    .where('rests_until_ms', '<', beforeMs)
    .execute()
}
