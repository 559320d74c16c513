import Type from 'typebox'
import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import { type JobKind, type Jobs, jobKind } from './job-kind.ts'

/** Rows that one transaction of a sweep removes: others wait for a few milliseconds. */
export const rowsPerPortion = 500

/** Removes some of what has had its time, of all tenants, or puts off when it looks at it again; answers how many rows
 * that were. 0: that was all. */
export type SweepPortion = (tx: Writer, limit: number) => Promise<number>

export interface SweepDeps {
  readonly db: Database
  readonly jobs: Pick<Jobs, 'handle' | 'every'>
}

/** Declares a recurring job that sweeps tables. */
export function sweepKind(name: string) {
  return jobKind({
    name,
    payload: Type.Object({}),
    retry: { maxAttempts: 3, firstDelayMs: 10_000, longestDelayMs: 60_000 },
    concurrency: 1,
    leaseMs: 120_000,
    keepDoneMs: 0,
  })
}

/** Registers a sweep; `portions` are called one after the other, each until it finds nothing. */
export function addSweep(
  { db, jobs }: SweepDeps,
  { kind, periodMs }: { readonly kind: JobKind; readonly periodMs: number },
  ...portions: readonly SweepPortion[]
): void {
  jobs.handle(kind, async (_, { signal }) => sweep(db, portions, signal))
  jobs.every(kind, periodMs)
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
