/** The methods that the paths of a server take. */
export interface MethodTable {
  /** Sorted, with HEAD beside GET; empty when nothing lives at this path. */
  methodsOf(url: string): string[]
}

interface Known {
  readonly methods: readonly string[]
  readonly form: RegExp
}

/** For answers to a wrong method. It is searched from one end to the other, and made when it is first asked. */
export function createMethodTable(
  routes: readonly { readonly method: string; readonly paths: readonly string[] }[],
): MethodTable {
  let known: readonly Known[] | undefined
  return {
    methodsOf(url) {
      known ??= routes.flatMap(({ method, paths }) => {
        const methods = method === 'GET' ? ['GET', 'HEAD'] : [method]
        return paths.map((path) => ({ methods, form: formOf(path) }))
      })
      const path = url.split('?', 1)[0] ?? ''
      const taken = known.filter(({ form }) => form.test(path)).flatMap(({ methods }) => methods)
      return [...new Set(taken)].sort()
    },
  }
}

function formOf(path: string): RegExp {
  const escaped = path.replaceAll(/[.+*?^$()[\]\\|]/g, String.raw`\$&`)
  return new RegExp(`^${escaped.replaceAll(/\{\w+\\\*\}/g, '.*').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}
