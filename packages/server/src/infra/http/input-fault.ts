import { decodeKeyword } from '@kith/protocol'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import { type Failure, invalid } from '#lib/failure.ts'
import { decode } from './decoding.ts'
import { undecodable } from './input-decoding.ts'
import type { Schema } from './input-schema.ts'

/** What is wrong with a value that does not fit its schema: the first fault of perhaps several. */
export type InputFault = (value: unknown, pathOf: (pointer: string) => string) => Failure

/** Finds text that cannot be decoded too: the fault that comes first in the schema is reported. */
export function inputFaultFinder(schema: Schema): InputFault {
  const form = Compile<TSchema>(withDecoding(schema))
  return (value, pathOf) => {
    const errors = form.Errors(value)
    const [first] = errors
    if (!first) return invalid(pathOf(''), 'is not valid')
    const path = pathOf(pathTo(first))
    const decoded = first.keyword === '~refine' ? findSchema(schema, first.schemaPath) : undefined
    const decoding = decoded?.[decodeKeyword]
    if (decoding) return undecodable(decoding, decoded?.['x-words'], path)
    return invalid(path, messageOf(first, errors))
  }
}

/** The schema with the decodings as conditions. */
function withDecoding(schema: Schema): Schema {
  const { [decodeKeyword]: decoding, 'x-words': words, properties, anyOf, items } = schema
  const isDecodable = (value: unknown) =>
    decoding === undefined || decode(decoding, value, words) !== undefined
  return {
    ...schema,
    ...(decoding && { '~refine': [{ check: isDecodable, error: () => decoding }] }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, member]) => [name, withDecoding(member)]),
      ),
    }),
    ...(anyOf && { anyOf: anyOf.map(withDecoding) }),
    ...(items && { items: Array.isArray(items) ? items.map(withDecoding) : withDecoding(items as Schema) }),
  }
}

/** The part of a schema at a JSON pointer that begins with `#`. */
function findSchema(schema: Schema, pointer: string): Schema | undefined {
  const names = pointer.split('/').slice(1).map(unescapePointer)
  return names.reduce<unknown>(
    (part, name) => (part as Record<string, unknown> | undefined)?.[name],
    schema,
  ) as Schema | undefined
}

function pathTo({ keyword, params, instancePath }: TLocalizedValidationError): string {
  const member =
    keyword === 'required'
      ? params.requiredProperties[0]
      : keyword === 'additionalProperties'
        ? params.additionalProperties[0]
        : undefined
  return member === undefined ? instancePath : `${instancePath}/${escapePointer(member)}`
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

function unescapePointer(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~')
}

function messageOf(first: TLocalizedValidationError, errors: readonly TLocalizedValidationError[]): string {
  if (first.keyword === 'required') return 'is required'
  if (first.keyword === 'additionalProperties') return 'is not known'
  const allowed = first.keyword === 'enum' ? first.params.allowedValues : constantsOf(first, errors)
  if (allowed.length > 0) return `must be ${allowed.map((value) => JSON.stringify(value)).join(' or ')}`
  return first.message.replace('must not have', 'must NOT have')
}

/** The words that a union would take of a value of this type. */
function constantsOf(
  { instancePath }: TLocalizedValidationError,
  errors: readonly TLocalizedValidationError[],
): unknown[] {
  const here = errors.filter((error) => error.instancePath === instancePath)
  const mistyped = new Set(
    here.filter(({ keyword }) => keyword === 'type').map(({ schemaPath }) => schemaPath),
  )
  return here.flatMap((error) =>
    error.keyword === 'const' && !mistyped.has(error.schemaPath) ? [error.params.allowedValue] : [],
  )
}
