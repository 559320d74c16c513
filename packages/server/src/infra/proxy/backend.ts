/** Where the requests of a host are passed on to, and how. Two that are equal by `JSON.stringify` are the same. */
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
  /** Headers put into each request and each answer, in place of others with these names (in lower case). */
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly responseHeaders: Readonly<Record<string, string>>
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
