/** Does valid JSON text have an object with a member twice, or with one named `__proto__`? Readers disagree on what those
 * mean. */
export function hasAmbiguousMembers(text: string): boolean {
  const open: (Set<string> | undefined)[] = []
  const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g
  for (const [part, colon] of text.matchAll(token)) {
    if (part === '{') open.push(new Set())
    else if (part === '[') open.push(undefined)
    else if (part === '}' || part === ']') open.pop()
    else if (colon !== undefined) {
      const name: string = JSON.parse(part.slice(0, -colon.length))
      const names = open.at(-1)
      if (name === '__proto__' || names?.has(name)) return true
      names?.add(name)
    }
  }
  return false
}
