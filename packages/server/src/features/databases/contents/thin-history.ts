import { keptPeriodSecs } from '#features/files/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { DatabaseKey } from '../engine/database.ts'
import { deleteSnapshotPortion, listStoredSnapshots, type StoredSnapshot } from './snapshot-store.ts'

// A snapshot that is due for removal may still be read, and one without bytes still be written.
const readableSecs = 3600
/** Of all snapshots of a database, compressed; the newest is kept whatever it has. */
const mostStoredBytes = 256 * 1024 ** 2
const partsAtOnce = 16

/** Which snapshots are kept no longer: all but the newest and the last of each period. */
export function listThinned(snapshots: readonly StoredSnapshot[], now: number): StoredSnapshot[] {
  const taken = new Set<string>()
  let bytes = 0
  // The newest first.
  return snapshots.filter(({ createdAt, storedBytes }) => {
    const age = now - createdAt
    // Its process died before it was complete.
    if (storedBytes === null) return age > readableSecs
    bytes += storedBytes
    const isNewest = taken.size === 0
    const secs = keptPeriodSecs(age)
    const period = `${secs} ${Math.floor(createdAt / (secs ?? 1))}`
    if (secs !== undefined && taken.has(period)) return age > readableSecs
    taken.add(period)
    return !isNewest && (secs === undefined || bytes > mostStoredBytes)
  })
}

export async function thinHistory(
  db: Database,
  { tenantId, fileId }: DatabaseKey,
  now: number,
): Promise<void> {
  const options = { isolation: 'read-committed', isBackground: true } as const
  for (const { seq } of listThinned(await listStoredSnapshots(db.reader(tenantId), fileId), now))
    while (
      !(await db.transact(
        tenantId,
        (tx) => deleteSnapshotPortion(tx, fileId, { seq, limit: partsAtOnce }),
        options,
      ))
    );
}
