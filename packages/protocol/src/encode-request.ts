import { type CallableContract, commaListsOf } from './callable-contract.ts'

/** The parts of a request, before they are encoded. */
export interface RequestParts {
  readonly params?: object
  readonly query?: object
  readonly headers?: object
  readonly body?: unknown
}

/** The path and query string of a request. Throws a `TypeError` for a path parameter that a URL cannot carry. */
export function encodePath(contract: CallableContract, { params = {}, query = {} }: RequestParts): string {
  const values = params as Readonly<Record<string, unknown>>
  const path = contract.path.replaceAll(/\{(\w+)(\*?)\}/g, (_, name: string, rest: string) => {
    const segments = rest === '*' ? String(values[name]).split('/') : [String(values[name] ?? '')]
    return segments.map((segment) => encodeSegment(name, segment)).join('/')
  })
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.append(name, encodeValue(value))
  }
  return search.size === 0 ? path : `${path}?${search}`
}

/** Throws for empty and dot segments: URL parsers remove them, even escaped, and the request would reach another endpoint. */
function encodeSegment(name: string, segment: string): string {
  if (['', '.', '..'].includes(segment))
    throw new TypeError(`the path parameter ${name} must not be "${segment}"`)
  return encodeURIComponent(segment)
}

function encodeValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(',')
  return value instanceof Date ? value.toISOString() : String(value)
}

/** The text and media type of a JSON or JWT body; undefined when there is no body. */
export function encodeBody(
  { body: form }: CallableContract,
  body: unknown,
): { type: string; text: string } | undefined {
  if (form?.kind === 'jwt' && typeof body === 'string') return { type: 'application/jwt', text: body }
  if (form?.kind === 'jwt') return { type: 'application/json', text: JSON.stringify(body) }
  if (form?.kind !== 'json' || body === undefined) return undefined
  return { type: 'application/json', text: JSON.stringify(withCommaLists(form.schema, body)) }
}

/** Callers pass comma lists as arrays; in a body they are sent as one string. */
function withCommaLists(schema: object, body: unknown): unknown {
  const lists = new Set(commaListsOf(schema))
  if (typeof body !== 'object' || body === null || lists.size === 0) return body
  const encode = ([name, value]: [string, unknown]) => [
    name,
    lists.has(name) && Array.isArray(value) ? value.join(',') : value,
  ]
  return Object.fromEntries(Object.entries(body).map(encode))
}
