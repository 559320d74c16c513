/** What is known of a file before it is sent. */
export interface Sized {
  readonly size: number
  readonly type: string
}

/** What the account may store. */
export interface Room {
  /** Bytes that are free; undefined where there is no limit. */
  readonly freeBytes: number | undefined
  readonly maxFileBytes: number
}

const rank = ({ type }: Sized) => (type.startsWith('image/') ? 0 : type.startsWith('video/') ? 2 : 1)

/** The order of sending: pictures, other files, films; the small ones of each first. */
export function compareForSending(a: Sized, b: Sized): number {
  return rank(a) - rank(b) || a.size - b.size
}

// Of more, a copy takes seconds, in which many small ones are kept.
const longCopyBytes = 32 * 2 ** 20

/** The order in which a device keeps what waits: the last to be sent first, since what goes soon is there before its copy would be. */
export function compareForKeeping(a: Sized, b: Sized): number {
  return Number(a.size > longCopyBytes) - Number(b.size > longCopyBytes) || compareForSending(b, a)
}

/** Why a file is not worth sending: for each file in turn, with room kept for those before it that go. */
export function refusalsOf(
  files: readonly Sized[],
  { freeBytes = Number.POSITIVE_INFINITY, maxFileBytes }: Room,
): readonly ('E-TOOLARGE' | 'E-QUOTA' | undefined)[] {
  let left = freeBytes
  return files.map(({ size }) => {
    if (size > maxFileBytes) return 'E-TOOLARGE'
    if (size > left) return 'E-QUOTA'
    left -= size
    return undefined
  })
}

/** A name that is not taken: `hills.jpg`, `hills (2).jpg`, … */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  const dot = name.lastIndexOf('.')
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  let free = name
  for (let count = 2; taken.has(free); count += 1) free = `${stem} (${count})${ending}`
  return free
}
