import { mayKeep } from '#platform/wipe.ts'
import type { FeedRow } from './feed-rows.ts'

const storedAs = 'kith-feed-seen'

// Of the visit before this one: what is noted now counts for the next.
const seenBefore = read()
let noted = seenBefore

/** Notes the newest post that was shown, for the next time that the app is opened. */
export function noteSeen(createdAt: string | undefined): void {
  if (createdAt === undefined || (noted !== undefined && createdAt <= noted)) return
  noted = createdAt
  if (!mayKeep()) return
  try {
    localStorage.setItem(storedAs, createdAt)
  } catch {
    // No storage in this browser: then there is no mark.
  }
}

function read(): string | undefined {
  try {
    return localStorage.getItem(storedAs) ?? undefined
  } catch {
    return undefined
  }
}

/** Before which row the mark stands; undefined where nothing is new, or all is. */
export function markedRow(
  rows: readonly FeedRow[],
  seen: string | undefined = seenBefore,
): string | undefined {
  if (seen === undefined) return undefined
  // What came late stands above what is newer.
  const at = rows.findLastIndex(({ createdAt }) => createdAt > seen) + 1
  return at > 0 ? rows[at]?.actionId : undefined
}
