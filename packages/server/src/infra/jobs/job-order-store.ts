import { sql } from 'kysely'
import { forUpdate, type Placeholder, statement, type Writer, type WriteTables } from '#infra/db/index.ts'
import type { Ending } from './job-store.ts'
import { inQueueOrder, type JobState, type JobTables } from './job-tables.ts'

// Of the unfinished jobs of one ordering key one is the head (`ready` or `leased`); the others are `new` or `waiting`.
// NOTE: whoever makes or ends a head holds the lock of the kind, else a job could wait for a head that has gone.

type Tables = WriteTables<JobTables>

// Literals, because an index over some rows serves only a statement that shows it wants those alone.
const isNew = sql.lit<JobState>('new')

/** Makes the rows that `lockKind` locks. */
export async function addKinds(tx: Writer, kinds: readonly string[]): Promise<void> {
  await tx
    .tables<JobTables>()
    .insertInto('job_kinds')
    .values(kinds.map((kind) => ({ kind })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

const lock = statement((tables: Tables, value: Placeholder<{ kind: string }>, dialect) =>
  forUpdate(dialect, tables.selectFrom('job_kinds').select('kind').where('kind', '=', value('kind'))),
)

/** Waits until no other node arranges jobs of the kind, and keeps them out until the transaction ends. A transaction
 * that locks several kinds takes them in the order of their names. */
export async function lockKind(tx: Writer, kind: string): Promise<void> {
  await tx.first(lock, { kind })
}

const newJobs = statement((tables: Tables, value: Placeholder<{ kind: string; limit: number }>) =>
  tables
    .selectFrom('jobs')
    .select((eb) => [
      'jobs.job_id as jobId',
      'jobs.ordering_key as orderingKey',
      'jobs.group_key as groupKey',
      eb
        .selectFrom('jobs as head')
        .select('head.job_id')
        .whereRef('head.kind', '=', 'jobs.kind')
        .whereRef('head.ordering_key', '=', 'jobs.ordering_key')
        .where('head.finished_at_ms', 'is', null)
        .where('head.state', 'in', ['ready', 'leased'])
        .orderBy('head.state')
        .orderBy(inQueueOrder('head'))
        .limit(1)
        .as('headId'),
    ])
    .where('jobs.kind', '=', value('kind'))
    .where('jobs.state', '=', isNew)
    .orderBy(inQueueOrder('jobs'))
    .limit(value('limit')),
)

/** Finds the places of jobs that were added: at the head of their order, or behind it. Answers how many, and
 * their groups. */
export async function orderNewJobs(
  tx: Writer,
  query: { readonly kind: string; readonly limit: number },
): Promise<{ readonly count: number; readonly groupKeys: ReadonlySet<string> }> {
  const rows = await tx.run(newJobs, query)
  const ready: number[] = []
  const waiting: number[] = []
  const led = new Set<string>()
  const groupKeys = new Set<string>()
  for (const { jobId, orderingKey, groupKey, headId } of rows) {
    if (groupKey !== null) groupKeys.add(groupKey)
    if (headId !== null || (orderingKey !== null && led.has(orderingKey))) waiting.push(jobId)
    else {
      ready.push(jobId)
      if (orderingKey !== null) led.add(orderingKey)
    }
  }
  await setState(tx, ready, 'ready')
  await setState(tx, waiting, 'waiting')
  return { count: rows.length, groupKeys }
}

async function setState(tx: Writer, jobIds: readonly number[], state: JobState): Promise<void> {
  if (jobIds.length > 0)
    await tx.tables<JobTables>().updateTable('jobs').set({ state }).where('job_id', 'in', jobIds).execute()
}

/** Before heads end: makes the next of each order ready. Answers the groups of those. With a lease token only behind
 * heads that are still under the lease: one that was lost ends nothing. */
export async function promoteBehind(
  tx: Writer,
  heads: { readonly jobIds: readonly number[]; readonly leaseToken?: string },
): Promise<string[]> {
  const { leaseToken } = heads
  const promoted = await tx
    .tables<JobTables>()
    .updateTable('jobs')
    .set({ state: 'ready' })
    .where('job_id', 'in', (eb) =>
      eb
        .selectFrom('jobs as head')
        .select((behind) =>
          behind
            .selectFrom('jobs as next')
            .select('next.job_id')
            .whereRef('next.kind', '=', 'head.kind')
            .whereRef('next.ordering_key', '=', 'head.ordering_key')
            .where('next.finished_at_ms', 'is', null)
            .where('next.state', '=', 'waiting')
            .orderBy(inQueueOrder('next'))
            .limit(1)
            .as('nextId'),
        )
        .where('head.job_id', 'in', heads.jobIds)
        .where('head.ordering_key', 'is not', null)
        .where('head.state', 'in', ['ready', 'leased'])
        .$if(leaseToken !== undefined, (query) => query.where('head.lease_token', '=', leaseToken ?? '')),
    )
    .returning('group_key as groupKey')
    .execute()
  return promoted.flatMap(({ groupKey }) => (groupKey === null ? [] : [groupKey]))
}

const overdue = statement(
  (tables: Tables, value: Placeholder<{ kind: string; nowMs: number; limit: number }>) =>
    tables
      .selectFrom('jobs')
      .select(['job_id as jobId', 'state', 'group_key as groupKey'])
      .where('kind', '=', value('kind'))
      .where('give_up_at_ms', '<=', value('nowMs'))
      .where('finished_at_ms', 'is', null)
      .where('lease_until_ms', 'is', null)
      .orderBy('give_up_at_ms')
      .limit(value('limit')),
)

/** Ends unleased jobs whose time is over. Answers the groups whose ready jobs have changed. */
export async function giveUpOverdue(
  tx: Writer,
  query: Ending & { kind: string; limit: number; error: string },
): Promise<string[]> {
  const rows = await tx.run(overdue, query)
  const isHead = (state: JobState) => state === 'ready'
  const behind = rows.filter(({ state }) => !isHead(state)).map(({ jobId }) => jobId)
  const heads = rows.filter(({ state }) => isHead(state)).map(({ jobId }) => jobId)
  // Those behind end first, so that none of them is promoted.
  await endJobs(tx, behind, query)
  const promoted = heads.length > 0 ? await promoteBehind(tx, { jobIds: heads }) : []
  await endJobs(tx, heads, query)
  const touched = rows.flatMap(({ groupKey }) => (groupKey === null ? [] : [groupKey]))
  return [...promoted, ...touched]
}

async function endJobs(
  tx: Writer,
  jobIds: readonly number[],
  { error, nowMs, removeAtMs, keepsKey }: Ending & { error: string },
): Promise<void> {
  if (jobIds.length === 0) return
  await tx
    .tables<JobTables>()
    .updateTable('jobs')
    .set({ state: 'dead', finished_at_ms: nowMs, remove_at_ms: removeAtMs })
    .set(keepsKey === 1 ? {} : { dedup_key: null })
    // The last error of an attempt says more than that time ran out.
    .set((eb) => ({ last_error: eb.fn.coalesce('last_error', eb.val(error)) }))
    .where('job_id', 'in', jobIds)
    .execute()
}
