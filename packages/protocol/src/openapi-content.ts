import Type, { type TSchema } from 'typebox'
import { type Contract, failuresOf, type Reply, type RequestBody } from './contract.ts'
import { enveloped, envelopedList } from './envelope.ts'
import { type ErrorCode, errorMessage, errorStatus } from './errors.ts'

/** Plain JSON. */
export type Json = Readonly<Record<string, unknown>>

/** The headers of answers, for `components`. */
export const answerHeaders = {
  'X-Request-Id': {
    description: 'Quote it when reporting problems; a request’s own is kept',
    schema: { type: 'string' },
  },
  'X-RateLimit-Limit': { description: 'Requests per minute', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests left in this minute', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'When the minute is over, Unix seconds', schema: { type: 'integer' } },
  'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer' } },
}

const commonHeaders = refs([
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
])

function refs(names: readonly (keyof typeof answerHeaders)[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

const bytesSchema = { type: 'string', contentMediaType: 'application/octet-stream' }

/** The request body object of a contract. */
export function requestBody(body: RequestBody, example: unknown): Json {
  switch (body.kind) {
    case 'json':
      return {
        required: body.optional !== true,
        content: { 'application/json': jsonContent(body.schema, example) },
      }
    case 'bytes': {
      if (body.mediaType !== undefined)
        return { required: true, content: { [body.mediaType]: { schema: bytesSchema } } }
      const form = { type: 'object', properties: { file: bytesSchema }, required: ['file'] }
      return {
        required: true,
        content: { '*/*': { schema: bytesSchema }, 'multipart/form-data': { schema: form } },
      }
    }
    case 'jwt': {
      const { beside } = body
      const token = Type.Object({
        token: Type.String(),
        ...(beside === undefined ? {} : { [beside]: Type.Optional(Type.String()) }),
      })
      return {
        required: true,
        content: {
          'application/jwt': { schema: { type: 'string' } },
          'application/json': jsonContent(token),
        },
      }
    }
  }
}

/** The response objects of success, by status. */
export function successOf(reply: Reply, data: unknown): Json {
  const withHeaders = { headers: commonHeaders }
  switch (reply.kind) {
    case 'empty':
      return { 204: { description: 'Done', ...withHeaders } }
    case 'bytes':
      return {
        200: { description: 'The bytes', ...withHeaders, content: { '*/*': { schema: bytesSchema } } },
        206: {
          description: 'The range asked for',
          ...withHeaders,
          content: { '*/*': { schema: bytesSchema } },
        },
        304: { description: 'Unchanged', ...withHeaders },
        ...(reply.redirects ? { 307: { description: 'The bytes are at `Location`', ...withHeaders } } : {}),
      }
    default: {
      const schema =
        reply.kind === 'bare'
          ? reply.schema
          : reply.kind === 'list'
            ? envelopedList(reply.schema)
            : enveloped(reply.schema)
      const example =
        data === undefined || reply.kind === 'bare' ? data : { data, time: exampleTime, reqId: 'r1' }
      const description = reply.status === 201 ? 'Created' : 'Done'
      return {
        [reply.status]: {
          description,
          ...withHeaders,
          content: { 'application/json': jsonContent(schema, example) },
        },
      }
    }
  }
}

const exampleTime = '2026-01-31T12:00:00.000Z'

function jsonContent(schema: TSchema, example?: unknown): Json {
  return { schema: plainSchema(schema), ...(example === undefined ? {} : { example }) }
}

/** The response objects of every failure, by status. */
export function failureResponses(contract: Contract): Json {
  const byStatus = Map.groupBy(failuresOf(contract), (code) => errorStatus[code])
  return Object.fromEntries(
    [...byStatus].sort(([a], [b]) => a - b).map(([status, codes]) => [status, failure(status, codes)]),
  )
}

function failure(status: number, codes: readonly ErrorCode[]): Json {
  const examples = codes.map((code) => {
    const value = { error: { code, message: errorMessage[code] }, time: 1_769_860_800, reqId: 'r1' }
    return [code, { value }]
  })
  return {
    description: codes.map((code) => `\`${code}\`: ${errorMessage[code]}`).join('\n\n'),
    headers: status === 429 ? { ...commonHeaders, ...refs(['Retry-After']) } : commonHeaders,
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(examples),
      },
    },
  }
}

/** The schema in the vocabulary of JSON Schema 2020-12, without our own keywords. */
export function plainSchema(schema: unknown): Json {
  const entries = Object.entries(schema as Json)
    .filter(([keyword]) => !keyword.startsWith('x-') && keyword !== 'additionalItems')
    .map(([keyword, value]) => [keyword, plainKeyword(keyword, value)])
  const plain: Json = Object.fromEntries(entries)
  const { items, ...rest } = plain
  return Array.isArray(items) ? { ...rest, prefixItems: items, items: false } : plain
}

function plainKeyword(keyword: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  switch (keyword) {
    case 'properties':
    case 'patternProperties':
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plainSchema(member)]))
    case 'items':
    case 'anyOf':
    case 'allOf':
      return Array.isArray(value) ? value.map(plainSchema) : plainSchema(value)
    case 'additionalProperties':
      return plainSchema(value)
    default:
      return value
  }
}
