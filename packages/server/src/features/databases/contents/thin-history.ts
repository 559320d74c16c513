import type { Database } from '#infra/db/index.ts'
import type { DatabaseKey } from '../engine/database.ts'
import { deleteSnapshotPortion, listStoredSnapshots, type StoredSnapshot } from './snapshot-store.ts'

const hourSecs = 3600
const daySecs = 24 * hourSecs
const keptDays = 30
/** Of all snapshots of a database, compressed; the newest is kept whatever it has. */
const mostStoredBytes = 256 * 1024 ** 2
const partsAtOnce = 16

/** Which snapshots are kept no longer: the last of each hour stays for a day, the last of each day for a month. */
export function listThinned(snapshots: readonly StoredSnapshot[], now: number): StoredSnapshot[] {
  const taken = new Set<string>()
  let bytes = 0
  // The newest first.
  return snapshots.filter(({ createdAt, storedBytes }) => {
    const age = now - createdAt
    // One that nobody finished; and one that somebody may still be reading.
    if (storedBytes === null) return age > hourSecs
    bytes += storedBytes
    const isNewest = taken.size === 0
    if (isTaken(taken, createdAt, age)) return age > hourSecs
    return !isNewest && (age > keptDays * daySecs || bytes > mostStoredBytes)
  })
}

/** Has a newer one its hour, or its day? */
function isTaken(taken: Set<string>, createdAt: number, age: number): boolean {
  const period =
    age < daySecs ? `h${Math.floor(createdAt / hourSecs)}` : `d${Math.floor(createdAt / daySecs)}`
  if (taken.has(period)) return true
  taken.add(period)
  return false
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
