import { type Placeholder, statement, type Writer, type WriteTables } from '#infra/db/index.ts'
import { type GroupLoad, type GroupState, newGroup } from './group-breaker.ts'
import { asLeased, type LeasedJob, type LeaseTerms, leasedColumns, leaseSet } from './job-store.ts'
import type { JobTables } from './job-tables.ts'

// NOTE: all of this happens under the lock of the kind. `claim_at_ms` is what makes groups cheap: a runner looks only
// at groups that are due, so the jobs of one that rests or is busy are never looked at.

type Tables = WriteTables<JobTables>

export interface LoadedGroup {
  readonly groupKey: string
  readonly state: GroupState
  readonly load: GroupLoad
}

/** Makes the rows of groups that were never seen. */
export async function addGroups(tx: Writer, kind: string, groupKeys: readonly string[]): Promise<void> {
  await tx
    .tables<JobTables>()
    .insertInto('job_groups')
    .values(
      groupKeys.map((groupKey) => ({
        kind,
        group_key: groupKey,
        failures: newGroup.failures,
        rests_until_ms: newGroup.restsUntilMs,
        served_at_ms: newGroup.servedAtMs,
        times_served: newGroup.timesServed,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** The groups that have a row, with what their jobs are doing. */
export async function loadGroups(
  tx: Writer,
  kind: string,
  groupKeys: readonly string[],
): Promise<LoadedGroup[]> {
  const rows = await tx
    .tables<JobTables>()
    .selectFrom('job_groups as of')
    .select((eb) => [
      'of.group_key as groupKey',
      'of.failures',
      'of.rests_until_ms as restsUntilMs',
      'of.served_at_ms as servedAtMs',
      'of.times_served as timesServed',
      eb
        .selectFrom('jobs')
        .select((count) => count.fn.countAll<number>().as('count'))
        .whereRef('jobs.kind', '=', 'of.kind')
        .whereRef('jobs.group_key', '=', 'of.group_key')
        .where('jobs.finished_at_ms', 'is', null)
        .where('jobs.state', '=', 'leased')
        .as('running'),
      eb
        .selectFrom('jobs')
        .select('jobs.run_at_ms')
        .whereRef('jobs.kind', '=', 'of.kind')
        .whereRef('jobs.group_key', '=', 'of.group_key')
        .where('jobs.finished_at_ms', 'is', null)
        .where('jobs.state', '=', 'ready')
        .orderBy('jobs.run_at_ms')
        .limit(1)
        .as('readyAtMs'),
    ])
    .where('of.kind', '=', kind)
    .where('of.group_key', 'in', groupKeys)
    .execute()
  return rows.map(({ groupKey, running, readyAtMs, ...state }) => ({
    groupKey,
    state,
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
            .where('jobs.finished_at_ms', 'is', null)
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
    .returning(leasedColumns),
)

/** Leases the oldest job that is due of each of the groups that `listDueGroups` answers. */
export async function leaseOneOfEachGroup(tx: Writer, terms: LeaseTerms): Promise<LeasedJob[]> {
  return asLeased(await tx.run(leaseOneEach, terms))
}

const removeIdle = statement(
  (tables: Tables, value: Placeholder<{ kind: string; beforeMs: number; limit: number }>) =>
    tables
      .deleteFrom('job_groups')
      .where('kind', '=', value('kind'))
      .where('group_key', 'in', (eb) =>
        eb
          .selectFrom('job_groups as idle')
          .select('idle.group_key')
          .where('idle.kind', '=', value('kind'))
          .where('idle.served_at_ms', '<', value('beforeMs'))
          .where('idle.rests_until_ms', '<', value('beforeMs'))
          .where((no) =>
            no.not(
              no.exists(
                no
                  .selectFrom('jobs')
                  .select('jobs.job_id')
                  .whereRef('jobs.kind', '=', 'idle.kind')
                  .whereRef('jobs.group_key', '=', 'idle.group_key')
                  .where('jobs.finished_at_ms', 'is', null),
              ),
            ),
          )
          .limit(value('limit')),
      ),
)

/** Forgets groups without jobs that were neither served nor resting since `beforeMs`. */
export async function removeIdleGroups(
  tx: Writer,
  query: { readonly kind: string; readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  return tx.change(removeIdle, query)
}
