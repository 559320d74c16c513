import type { IdTag } from '@kith/protocol'
import { keptPeriodChanges, keptPeriodSecs } from '#features/files/index.ts'

/** A former state of a document. */
export interface Snapshot {
  /** The last update that it contains. */
  readonly seq: number
  /** Unix seconds. */
  readonly createdAt: number
  /** Bytes. */
  readonly size: number
  /** Identities that wrote since the snapshot before. */
  readonly writers: readonly IdTag[]
}

/** The result of thinning a history. */
interface Thinning {
  readonly removed: readonly number[]
  /** Snapshots that take over the writers of removed ones. */
  readonly changed: readonly Pick<Snapshot, 'seq' | 'writers'>[]
  /** When the next snapshot is due for removal if none is added, Unix seconds. */
  readonly nextAt: number | undefined
}

/** Which snapshots (the newest first) a history keeps: the newest, and the last of each period. */
export function thinHistory(snapshots: readonly Snapshot[], now: number): Thinning {
  const removed: number[] = []
  const changed = new Map<number, Snapshot>()
  let kept: Snapshot | undefined
  let nextAt: number | undefined
  for (const snapshot of snapshots) {
    if (kept === undefined || isKept(snapshot, kept, now)) {
      if (kept) nextAt = earlier(nextAt, endOf(snapshot, kept, now))
      kept = snapshot
      continue
    }
    removed.push(snapshot.seq)
    const writers = [...new Set([...snapshot.writers, ...kept.writers])]
    kept = { ...kept, writers }
    changed.set(kept.seq, kept)
  }
  return { removed, changed: [...changed.values()].map(({ seq, writers }) => ({ seq, writers })), nextAt }
}

/** `later` is the next one that is kept. */
function isKept({ createdAt }: Snapshot, later: Snapshot, now: number): boolean {
  const secs = keptPeriodSecs(now - createdAt)
  return secs !== undefined && Math.floor(createdAt / secs) !== Math.floor(later.createdAt / secs)
}

function endOf(snapshot: Snapshot, later: Snapshot, now: number): number {
  const [dayEnd, monthEnd] = keptPeriodChanges.map((age) => snapshot.createdAt + age) as [number, number]
  return dayEnd > now && !isKept(snapshot, later, dayEnd) ? dayEnd : monthEnd
}

function earlier(one: number | undefined, other: number): number {
  return one === undefined ? other : Math.min(one, other)
}
