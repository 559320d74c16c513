import Type from 'typebox'
import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import { type JobContext, type Jobs, jobKind } from './job-kind.ts'

/** The dedup key of a recurring job, of which there is one of its kind. */
export const recurringKey = 'every'

/** Rows that one transaction of a sweep removes: others wait for a few milliseconds. */
export const rowsPerPortion = 500

/** Removes some of what has had its time, of all tenants, or puts off when it looks at it again; answers how many rows
 * that were. 0: that was all. */
export type SweepPortion = (tx: Writer, limit: number) => Promise<number>

export interface SweepDeps {
  readonly db: Database
  readonly jobs: Pick<Jobs, 'handle'>
}

/** A recurring job: its name, how often it runs, and what it does. */
export interface Recurring {
  readonly name: string
  readonly everyMs: number
  readonly run: (context: JobContext) => Promise<void>
}

/** Declares a recurring job and registers its handler. It runs once per period over all nodes, and none is lost; after its
 * third failure in a row it waits for its next time. */
export function recurring(jobs: Pick<Jobs, 'handle'>, { name, everyMs, run }: Recurring): void {
  const kind = jobKind({
    name,
    everyMs,
    payload: Type.Object({}),
    retry: { maxAttempts: 3, firstDelayMs: 10_000, longestDelayMs: 60_000 },
    concurrency: 1,
  })
  jobs.handle(kind, (_, context) => run(context))
}

/** Registers a sweep; `portions` are called one after the other, each until it finds nothing. */
export function addSweep(
  { db, jobs }: SweepDeps,
  schedule: Pick<Recurring, 'name' | 'everyMs'>,
  ...portions: readonly SweepPortion[]
): void {
  recurring(jobs, { ...schedule, run: ({ signal }) => sweep(db, portions, signal) })
}

/** Runs each portion in transactions of its own, so that other writes come between; what fails does not keep the rest. */
export async function sweep(
  db: Database,
  portions: readonly SweepPortion[],
  signal?: AbortSignal,
): Promise<void> {
  const failures: unknown[] = []
  for (const portion of portions)
    try {
      let count = rowsPerPortion
      while (count > 0 && !signal?.aborted)
        count = await db.transact(serverTenant, (tx) => portion(tx, rowsPerPortion), inBackground)
    } catch (error) {
      failures.push(error)
    }
  if (failures.length > 0) throw failures[0]
}

const inBackground = { isolation: 'read-committed', isBackground: true } as const
