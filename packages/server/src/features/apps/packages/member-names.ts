/** The name of a member that an object of valid JSON text has twice, or `__proto__`: readers disagree on what those mean. Undefined
 * where there is none. */
export function ambiguousMember(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = []
  const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g
  for (const [part, colon] of text.matchAll(token)) {
    if (part === '{') open.push(new Set())
    else if (part === '[') open.push(undefined)
    else if (part === '}' || part === ']') open.pop()
    else if (colon !== undefined) {
      const name: string = JSON.parse(part.slice(0, -colon.length))
      const names = open.at(-1)
      if (name === '__proto__' || names?.has(name)) return name
      names?.add(name)
    }
  }
  return undefined
}
