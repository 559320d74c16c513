import type { FileId } from '@kith/protocol'
import type { FileLevel } from '../access/file-viewer.ts'
import type { GrantNode, GrantShare, GrantSteps } from '../access/grant-steps-store.ts'

/** By what somebody may give a share. */
export interface Foundation {
  /** The shares that the right rests on, each of which it needs; none where it is the giver's own. */
  readonly baseIds: readonly number[]
  /** When the first of them ends, Unix seconds; undefined: never. */
  readonly expiresAt: number | undefined
}

/** The way by which shares give somebody a level on a file for longest. */
export function findLongestWay(
  steps: GrantSteps,
  asked: { readonly fileId: FileId; readonly needed: FileLevel },
): Foundation | undefined {
  const find = wayFinder(steps, asked)
  const ends = [...new Set(steps.shares.map(({ expiresAt }) => expiresAt))].sort((one, other) => other - one)
  // The sooner shares may end the more of them there are: the latest end with a way is the one of the longest.
  let [first, last] = [0, ends.length]
  while (first < last) {
    const middle = Math.floor((first + last) / 2)
    if (find(ends[middle] ?? 0)) last = middle
    else first = middle + 1
  }
  const end = ends[first]
  const baseIds = end === undefined ? undefined : find(end)
  return baseIds && { baseIds, expiresAt: end === Number.POSITIVE_INFINITY ? undefined : end }
}

interface Place {
  readonly fileId: string
  readonly isSubject: boolean
  /** A share with the readers of a file was passed; what follows has only to let read. */
  readonly isCarried: boolean
  readonly baseIds: readonly number[]
}

/** A search for a way with the fewest steps by shares that do not end before a time. */
function wayFinder(
  { nodes, shares }: GrantSteps,
  { fileId, needed }: { readonly fileId: FileId; readonly needed: FileLevel },
) {
  const nodeAt = new Map(nodes.map((node) => [`${node.fileId} ${node.isSubject}`, node]))
  const sharesOf = Map.groupBy(shares, (share) => share.fileId)
  return (notBefore: number): readonly number[] | undefined => {
    const places: Place[] = [{ fileId, isSubject: false, isCarried: false, baseIds: [] }]
    const seen = new Set<string>()
    for (const place of places) {
      const node = nodeAt.get(`${place.fileId} ${place.isSubject}`)
      const key = `${place.fileId} ${place.isSubject} ${place.isCarried}`
      if (!node || seen.has(key)) continue
      seen.add(key)
      const usable = (sharesOf.get(place.fileId) ?? []).filter(
        ({ expiresAt, level }) => expiresAt >= notBefore && (place.isCarried || level >= needed),
      )
      const last = usable.find(({ readersOf }) => readersOf === undefined)
      if (last) return [...place.baseIds, last.shareId]
      if (node.isSubject && node.isRead) return place.baseIds
      places.push(...nextPlaces(place, node, usable))
    }
    return undefined
  }
}

function nextPlaces(place: Place, node: GrantNode, usable: readonly GrantShare[]): Place[] {
  const folder = node.folderId === undefined ? [] : [{ ...place, fileId: node.folderId, isSubject: false }]
  const subjects = usable.flatMap(({ readersOf, shareId }) =>
    readersOf === undefined
      ? []
      : [{ fileId: readersOf, isSubject: true, isCarried: true, baseIds: [...place.baseIds, shareId] }],
  )
  return [...folder, ...subjects]
}
