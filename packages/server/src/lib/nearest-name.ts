// A word of ten letters with three wrong ones is not a slip any more.
const mostWrong = 3
const longest = 64

/** The known name that differs least from one that was mistyped; undefined when none is near. `most`: in how many characters it
 * may differ. */
export function nearestName(
  name: string,
  known: readonly string[],
  most = Math.min(mostWrong, Math.ceil(name.length / 3)),
): string | undefined {
  if (name.length > longest) return undefined
  let nearest: { readonly name: string; readonly distance: number } | undefined
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > most) continue
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance <= most && distance < (nearest?.distance ?? Number.POSITIVE_INFINITY))
      nearest = { name: candidate, distance }
  }
  return nearest?.name
}

/** How many characters are to be added, left out or replaced (Levenshtein). */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [at, character] of [...one].entries()) {
    const next = [at + 1]
    for (const [column, wanted] of [...other].entries()) {
      const replaced = (row[column] ?? 0) + (character === wanted ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
