import type { Contract } from './contract.ts'
import { decodeKeyword } from './decoding.ts'

/** What a client reads of a contract while it runs. The bundler plugin of `@kith/client` carries nothing else into a browser. */
export interface CallableContract {
  readonly name: string
  readonly method: Contract['method']
  readonly path: string
  /** Of the schema the properties that are comma lists. */
  readonly body?:
    | { readonly kind: 'json'; readonly schema: object }
    | { readonly kind: 'bytes' }
    | { readonly kind: 'jwt' }
  readonly reply: { readonly kind: Contract['reply']['kind'] }
}

/** The parts of a contract with which requests are the same as with the whole of it, as plain JSON. */
export function callableContract({ name, method, path, body, reply }: Contract): CallableContract {
  return {
    name,
    method,
    path,
    ...(body
      ? { body: body.kind === 'json' ? { kind: body.kind, schema: slim(body.schema) } : { kind: body.kind } }
      : {}),
    reply: { kind: reply.kind },
  }
}

function slim(schema: object): object {
  const isCommaList = { [decodeKeyword]: 'commaList' }
  const names = commaListsOf(schema)
  return names.length === 0
    ? {}
    : { properties: Object.fromEntries(names.map((name) => [name, isCommaList])) }
}

/** The members of a body that are comma lists. */
export function commaListsOf(schema: object): string[] {
  if (!('properties' in schema)) return []
  const properties = schema.properties as Readonly<Record<string, { [decodeKeyword]?: string }>>
  return Object.keys(properties).filter((name) => properties[name]?.[decodeKeyword] === 'commaList')
}
