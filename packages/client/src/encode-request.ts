import { type Contract, decodeKeyword } from '@kith/protocol'

/** The parts of a request as callers give them. */
export interface RequestParts {
  readonly params?: object
  readonly query?: object
  readonly headers?: object
  readonly body?: unknown
}

/** The path and query of a request below the base address. */
export function encodePath(contract: Contract, { params = {}, query = {} }: RequestParts): string {
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

/** URLs swallow empty and dot segments, however they are escaped: the request would go elsewhere. */
function encodeSegment(name: string, segment: string): string {
  if (['', '.', '..'].includes(segment))
    throw new TypeError(`the path parameter ${name} must not be "${segment}"`)
  return encodeURIComponent(segment)
}

function encodeValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(',')
  return value instanceof Date ? value.toISOString() : String(value)
}

/** The text and media type of a body that is JSON or a token; undefined when there is none. */
export function encodeBody(
  { body: form }: Contract,
  body: unknown,
): { type: string; text: string } | undefined {
  if (form?.kind === 'jwt' && typeof body === 'string') return { type: 'application/jwt', text: body }
  if (form?.kind === 'jwt') return { type: 'application/json', text: JSON.stringify(body) }
  if (form?.kind !== 'json' || body === undefined) return undefined
  return { type: 'application/json', text: JSON.stringify(withCommaLists(form.schema, body)) }
}

/** Comma lists may be given as lists everywhere; in bodies they are sent as text. */
function withCommaLists(schema: object, body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('properties' in schema)) return body
  const properties = schema.properties as Readonly<Record<string, { [decodeKeyword]?: string } | undefined>>
  const encode = ([name, value]: [string, unknown]) => {
    const isCommaList = properties[name]?.[decodeKeyword] === 'commaList'
    return [name, isCommaList && Array.isArray(value) ? value.join(',') : value]
  }
  return Object.fromEntries(Object.entries(body).map(encode))
}
