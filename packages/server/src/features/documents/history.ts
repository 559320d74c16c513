import type { IdTag } from '@kith/protocol'

/** What a document was at a time. */
export interface Snapshot {
  /** Everything up to this number is in it. */
  readonly seq: number
  /** Unix seconds. */
  readonly createdAt: number
  /** Bytes. */
  readonly size: number
  /** Identities that wrote since the snapshot before. */
  readonly writers: readonly IdTag[]
}

/** What becomes of a history. */
interface Thinning {
  readonly removed: readonly number[]
  /** Those who get the writers of removed ones. */
  readonly changed: readonly Pick<Snapshot, 'seq' | 'writers'>[]
  /** When there is something to remove again, if nothing is added; Unix seconds. */
  readonly nextAt: number | undefined
}

const hourSecs = 3600
const daySecs = 24 * hourSecs
const monthSecs = 30 * daySecs

/** Which snapshots (the newest first) a history keeps: the newest, the last of each hour for a day, and the last of each
 * day for a month. */
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
  const age = now - createdAt
  if (age < daySecs) return period(createdAt, hourSecs) !== period(later.createdAt, hourSecs)
  return age < monthSecs && period(createdAt, daySecs) !== period(later.createdAt, daySecs)
}

function endOf(snapshot: Snapshot, later: Snapshot, now: number): number {
  const { createdAt } = snapshot
  const atDay = createdAt + daySecs
  return atDay > now && !isKept(snapshot, later, atDay) ? atDay : createdAt + monthSecs
}

function period(time: number, secs: number): number {
  return Math.floor(time / secs)
}

function earlier(one: number | undefined, other: number): number {
  return one === undefined ? other : Math.min(one, other)
}
