import { decodeKeyword } from '@kith/protocol'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Failure, invalid } from '#lib/failure.ts'
import { issueOf } from '#lib/schema-issues.ts'
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
    const issue = issueOf(first, errors)
    const path = pathOf(issue.path)
    const decoded = first.keyword === '~refine' ? findSchema(schema, first.schemaPath) : undefined
    const decoding = decoded?.[decodeKeyword]
    if (decoding) return undecodable(decoding, decoded?.['x-words'], path)
    return invalid(path, issue.message)
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

function unescapePointer(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~')
}
