/** Reads the parameters of a path with `{param}` placeholders; undefined for another path. */
export function pathReader(path: string): (url: string) => Readonly<Record<string, string>> | undefined {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
  const form = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`)
  return (url) => {
    const found = form.exec(url.split('?', 1)[0] ?? '')
    if (!found) return undefined
    try {
      return Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(found[at + 1] ?? '')]))
    } catch {
      return undefined
    }
  }
}
