import { sql } from 'kysely'
import {
  listedTexts,
  lockName,
  type Placeholder,
  statement,
  type Writer,
  type WriteTables,
} from '#infra/db/index.ts'
import { inQueueOrder, type JobState, type JobTables } from './job-tables.ts'

// Of the unfinished jobs of one ordering key one is the head (`ready` or `leased`); the others are `new` or `waiting`.
// NOTE: whoever makes or ends a head holds the lock of the kind, else a job could wait for a head that has gone.

type Tables = WriteTables<JobTables>

// Literals, because an index over some rows serves only a statement that shows it wants those alone.
const isNew = sql.lit<JobState>('new')

/** Waits until no other node arranges jobs of the kind, and keeps them out until the transaction ends. A transaction
 * that locks several kinds takes them in the order of their names. */
export async function lockKind(tx: Writer, kind: string): Promise<void> {
  await lockName(tx, `jobs ${kind}`)
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
        .where('head.remove_at_ms', 'is', null)
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

/** Finds the places of jobs that were added: at the head of their order, or behind it. Answers their groups. */
export async function orderNewJobs(
  tx: Writer,
  query: { readonly kind: string; readonly limit: number },
): Promise<(string | null)[]> {
  const rows = await tx.run(newJobs, query)
  const ready: number[] = []
  const waiting: number[] = []
  const led = new Set<string>()
  for (const { jobId, orderingKey, headId } of rows) {
    if (headId !== null || (orderingKey !== null && led.has(orderingKey))) waiting.push(jobId)
    else {
      ready.push(jobId)
      if (orderingKey !== null) led.add(orderingKey)
    }
  }
  await setState(tx, ready, 'ready')
  await setState(tx, waiting, 'waiting')
  return rows.map(({ groupKey }) => groupKey)
}

async function setState(tx: Writer, jobIds: readonly number[], state: JobState): Promise<void> {
  if (jobIds.length > 0)
    await tx.tables<JobTables>().updateTable('jobs').set({ state }).where('job_id', 'in', jobIds).execute()
}

const promote = statement(
  (tables: Tables, value: Placeholder<{ kind: string; orderingKeys: string }>, dialect) =>
    tables
      .updateTable('jobs')
      .set({ state: 'ready' })
      .where('job_id', 'in', (eb) =>
        eb
          .selectFrom(listedTexts(dialect, value('orderingKeys')).as('listed'))
          .select((behind) =>
            behind
              .selectFrom('jobs as next')
              .select('next.job_id')
              .where('next.kind', '=', value('kind'))
              .whereRef('next.ordering_key', '=', 'listed.value')
              .where('next.remove_at_ms', 'is', null)
              .where('next.state', '=', 'waiting')
              .orderBy(inQueueOrder('next'))
              .limit(1)
              .as('nextId'),
          )
          .where((no) =>
            no.not(
              no.exists(
                no
                  .selectFrom('jobs as head')
                  .select('head.job_id')
                  .where('head.kind', '=', value('kind'))
                  .whereRef('head.ordering_key', '=', 'listed.value')
                  .where('head.remove_at_ms', 'is', null)
                  .where('head.state', 'in', ['ready', 'leased']),
              ),
            ),
          ),
      )
      .returning('group_key as groupKey'),
)

/** Makes the next of each order ready that has no head any more. Answers the groups of those. */
export async function promoteNext(
  tx: Writer,
  kind: string,
  orderingKeys: readonly string[],
): Promise<(string | null)[]> {
  const rows = await tx.run(promote, { kind, orderingKeys: JSON.stringify(orderingKeys) })
  return rows.map(({ groupKey }) => groupKey)
}
