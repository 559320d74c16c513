import { rtdbLimits } from '@kith/protocol'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { addSweep, type Jobs, recurring } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { takeSnapshot } from './contents/take-snapshot.ts'
import { thinHistory } from './contents/thin-history.ts'
import { deleteOldAnswers, deleteOldChanges } from './engine/change-log-store.ts'
import { listSnapshotsDue } from './engine/database-store.ts'
import { deleteOldLocks } from './locks/lock-store.ts'

interface JobDeps {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Pick<Jobs, 'handle'>
}

const minuteMs = 60_000
/** How long changes are kept for processes and queries that have yet to learn of them. */
const changesKeptSecs = 300
const snapshotsAtOnce = 100

/** Deletes old changes and answers of transactions, takes the hourly snapshots and thins the history. */
export function addDatabaseJobs(deps: JobDeps): void {
  const { db, clock, jobs } = deps
  addSweep(
    { db, jobs },
    { name: 'databases.sweep', everyMs: minuteMs },
    (tx, limit) => deleteOldChanges(tx, { upTo: nowSecs(clock) - changesKeptSecs, limit }),
    (tx, limit) => deleteOldAnswers(tx, { upTo: nowSecs(clock) - rtdbLimits.txIdSecs, limit }),
    (tx, limit) => deleteOldLocks(tx, { upTo: nowSecs(clock), limit }),
  )
  recurring(jobs, {
    name: 'databases.snapshots',
    everyMs: 5 * minuteMs,
    run: ({ signal }) => takeSnapshots(deps, signal),
  })
}

/** Keeps the state of each database whose hour has ended. */
async function takeSnapshots({ db, clock }: JobDeps, signal: AbortSignal): Promise<void> {
  const now = nowSecs(clock)
  const due = await listSnapshotsDue(db.reader(serverTenant), { now, limit: snapshotsAtOnce })
  const failures: unknown[] = []
  for (const key of due) {
    if (signal.aborted) return
    try {
      await takeSnapshot({ db, clock }, key)
      await thinHistory(db, key, now)
    } catch (error) {
      // A database that fails does not keep the others from their snapshots.
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
