/** Headers that are set, by their names as `headerKey` has them. */
export type SetHeaders = ReadonlyMap<string, readonly [name: string, value: string]>

/** Where the requests of a host are passed on to, and how. */
export interface Backend {
  /** The host that it answers for: names it in the log. */
  readonly host: string
  /** Scheme, host and port. */
  readonly origin: string
  /** Whether the backend is told the visitor's host, and not its own. */
  readonly preservesHost: boolean
  readonly connectTimeoutMs: number
  /** How long nothing may move between visitor and backend. */
  readonly readTimeoutMs: number
  readonly takesWebSockets: boolean
  /** Headers put into each request and each answer, in place of others with these names. */
  readonly requestHeaders: SetHeaders
  readonly responseHeaders: SetHeaders
  /** What is taken off the front of paths that begin with it. */
  readonly stripPrefix: string | undefined
}

/** The path and query that the backend is asked for. */
export function backendPath(url: string, { stripPrefix }: Pick<Backend, 'stripPrefix'>): string {
  if (stripPrefix === undefined || !url.startsWith(stripPrefix)) return url
  const rest = url.slice(stripPrefix.length)
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('/') ? rest : url
}

/** Where its connections go, as `node:http` takes it: a path beside it leads to no other host. */
export function placeOf({ origin }: Pick<Backend, 'origin'>) {
  const { hostname, port } = new URL(origin)
  const host = hostname.replace(/^\[|\]$/g, '')
  return { host, ...(port === '' ? {} : { port: Number(port) }) }
}

/** The name of a header as CGI programs see it, for which `_` and `-` are the same. */
export function headerKey(name: string): string {
  const lower = name.toLowerCase()
  return lower.includes('_') ? lower.replaceAll('_', '-') : lower
}
