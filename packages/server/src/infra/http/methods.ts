/** The methods that the paths of a server take. */
export interface MethodTable {
  /** Sorted, with HEAD beside GET; empty when nothing lives at this path. */
  methodsOf(url: string): string[]
  /** What the contracts of this path put into every answer. */
  headersOf(url: string): Readonly<Record<string, string>>
}

interface Served {
  readonly method: string
  readonly paths: readonly string[]
  readonly headers?: Readonly<Record<string, string>> | undefined
}

interface Known {
  readonly methods: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly form: RegExp
}

/** For answers to a wrong method. It is searched from one end to the other, and made when it is first asked. */
export function createMethodTable(routes: readonly Served[]): MethodTable {
  let known: readonly Known[] | undefined
  const at = (url: string) => {
    known ??= routes.flatMap(({ method, paths, headers = {} }) => {
      const methods = method === 'GET' ? ['GET', 'HEAD'] : [method]
      return paths.map((path) => ({ methods, headers, form: formOf(path) }))
    })
    const path = url.split('?', 1)[0] ?? ''
    return known.filter(({ form }) => form.test(path))
  }
  return {
    methodsOf: (url) => [...new Set(at(url).flatMap(({ methods }) => methods))].sort(),
    headersOf: (url) => Object.assign({}, ...at(url).map(({ headers }) => headers)),
  }
}

/** What the addresses of a path with `{param}` placeholders look like. */
export function formOf(path: string): RegExp {
  const escaped = path.replaceAll(/[.+*?^$()[\]\\|]/g, String.raw`\$&`)
  return new RegExp(`^${escaped.replaceAll(/\{\w+\\\*\}/g, '.*').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}
