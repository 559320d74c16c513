import type { FeedRow } from './feed-rows.ts'

/** A comment in its place in the thread. */
export interface ThreadRow {
  readonly row: FeedRow
  /** 0 for an answer to the post itself, at most `deepest`. */
  readonly depth: number
  /** The comment that it answers, where its place does not say so. */
  readonly answers?: string
}

const deepest = 2

/** The comments of a post: answers below what they answer, three levels deep, then flat; each level in the order of time. */
export function threadOrder(rows: readonly FeedRow[], rootId: string): ThreadRow[] {
  const known = new Set(rows.map(({ actionId }) => actionId))
  const answersTo = new Map<string, FeedRow[]>()
  for (const row of [...rows].sort((a, b) => a.createdAt.localeCompare(b.createdAt))) {
    // What answers a comment that is not loaded stands with the first level.
    const parent = row.parentId !== undefined && known.has(row.parentId) ? row.parentId : rootId
    answersTo.set(parent, [...(answersTo.get(parent) ?? []), row])
  }
  const ordered: ThreadRow[] = []
  // A stack instead of a recursion: a thread may answer itself ten thousand times.
  const waiting = placed(answersTo.get(rootId) ?? [], 0, rootId).reverse()
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    ordered.push(next)
    const { row, depth } = next
    waiting.push(...placed(answersTo.get(row.actionId) ?? [], depth + 1, rootId).reverse())
    answersTo.delete(row.actionId)
  }
  return ordered
}

function placed(rows: readonly FeedRow[], depth: number, rootId: string): ThreadRow[] {
  return rows.map((row) => {
    const isPlain = depth > 0 && depth <= deepest
    const answers = isPlain || row.parentId === rootId ? undefined : row.parentId
    return { row, depth: Math.min(depth, deepest), ...(answers === undefined ? {} : { answers }) }
  })
}
