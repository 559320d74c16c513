/** Something of one's own that was written here. */
interface Waiting {
  readonly key: string
}

/** Something of one's own that the server has. */
interface Posted {
  readonly actionId: string
}

interface Pairing<One extends Waiting, Other extends Posted> {
  /** Ids that the server has given, by key. */
  readonly ids: ReadonlyMap<string, string>
  /** Whether the one may have become the other: it says the same in the same place, and the other was not there before. */
  readonly isSame: (waiting: One, posted: Other) => boolean
}

/** Of what waits, in the order in which it was written, what is not among the posted yet. News of it may come before the answer
 * that names its id: then the first that says the same is meant, and each stands for one alone. Times are not compared, since
 * clocks differ. */
export function stillWaiting<One extends Waiting, Other extends Posted>(
  waiting: readonly One[],
  posted: readonly Other[],
  { ids, isSame }: Pairing<One, Other>,
): readonly One[] {
  if (waiting.length === 0) return waiting
  const present = new Set(posted.map(({ actionId }) => actionId))
  const taken = new Set(ids.values())
  return waiting.filter((one) => {
    const id = ids.get(one.key)
    if (id !== undefined) return !present.has(id)
    const found = posted.find((other) => !taken.has(other.actionId) && isSame(one, other))
    if (found) taken.add(found.actionId)
    return found === undefined
  })
}
