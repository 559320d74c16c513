import {
  type Decoding,
  decodeKeyword,
  type ErrorCode,
  unknownIdCode,
  type ValidationIssue,
} from '@kith/protocol'
import type { Ajv, ErrorObject, FuncKeywordDefinition } from 'ajv'
import type { TSchema } from 'typebox'
import { Failure } from '#lib/failure.ts'
import { decode, decodingFault } from './decoding.ts'

/** Checks a value against its schema and decodes it in place: defaults are put in, members that the schema does not
 * name are taken out. Throws `E-VALIDATION`, or the code of an unknown id for text that has not an id's form. */
export type InputCheck = (value: unknown) => void

// Loaded with the first request that has input: neither start-up nor an idle server pays for the compiler.
let ajv: Promise<Ajv> | undefined

/** Compiles the check of the parameters of one place (`/query`), whose name begins the issues' paths. */
export async function compileInputCheck(schema: TSchema, place: string): Promise<InputCheck> {
  const validate = await compile(closed(schema as Schema))
  return (values) => {
    if (!validate(values)) throw failureOf(validate.errors ?? [], (pointer) => place + pointer)
  }
}

/** Compiles the check of a JSON body, which answers the decoded body. */
export async function compileBodyCheck(schema: TSchema): Promise<(parsed: unknown) => unknown> {
  // As the member of an object a body can be a primitive, and be decoded or defaulted itself.
  const member = { type: 'object', properties: { body: closed(schema as Schema) }, required: ['body'] }
  const validate = await compile(member)
  return (parsed) => {
    const holder = { body: parsed }
    if (!validate(holder)) throw failureOf(validate.errors ?? [], (pointer) => pointer.slice('/body'.length))
    return holder.body
  }
}

async function compile(schema: Schema) {
  ajv ??= loadAjv()
  return (await ajv).compile(schema)
}

async function loadAjv(): Promise<Ajv> {
  const { Ajv } = await import('ajv')
  // Without `allErrors`: a small body could make a large list of faults.
  const instance = new Ajv({ strict: true, strictTypes: false, useDefaults: true, removeAdditional: true })
  instance.addVocabulary(['x-words'])
  instance.addKeyword(decodeKeywordDefinition)
  return instance
}

type Words = readonly string[]

interface DecodeParams {
  readonly decoding: Decoding
}

type Decoder = ReturnType<NonNullable<FuncKeywordDefinition['compile']>>

const decodeKeywordDefinition: FuncKeywordDefinition = {
  keyword: decodeKeyword,
  modifying: true,
  // After the other keywords: they speak of the text, not of what it becomes.
  post: true,
  errors: true,
  compile(decoding: Decoding, parentSchema) {
    const words = ('x-words' in parentSchema ? parentSchema['x-words'] : undefined) as Words | undefined
    const params: DecodeParams = { decoding }
    const fault = { keyword: decodeKeyword, message: decodingFault(decoding, words), params }
    const run: Decoder = (data: unknown, place) => {
      const value = decode(decoding, data, words)
      if (value === undefined || place === undefined) {
        run.errors = [fault]
        return false
      }
      place.parentData[place.parentDataProperty] = value
      return true
    }
    return run
  },
}

function failureOf(errors: readonly ErrorObject[], pathFor: (pointer: string) => string): Failure {
  const [first] = errors
  const unknownId = unknownIdOf(first)
  if (unknownId) return new Failure(unknownId)
  const issues: ValidationIssue[] = first
    ? [{ path: pathFor(pathOf(first)), message: messageOf(first, errors) }]
    : []
  return new Failure('E-VALIDATION', { details: { issues } })
}

function unknownIdOf(error: ErrorObject | undefined): ErrorCode | undefined {
  if (error?.keyword !== decodeKeyword) return undefined
  return unknownIdCode[(error.params as DecodeParams).decoding]
}

function pathOf(error: ErrorObject): string {
  const missing: unknown = error.keyword === 'required' ? error.params.missingProperty : undefined
  return typeof missing === 'string' ? `${error.instancePath}/${escapePointer(missing)}` : error.instancePath
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

function messageOf(error: ErrorObject, errors: readonly ErrorObject[]): string {
  if (error.keyword === 'required') return 'is required'
  const allowed =
    error.keyword === 'enum'
      ? error.params.allowedValues
      : errors.filter(({ keyword }) => keyword === 'const').map(({ params }) => params.allowedValue)
  if (Array.isArray(allowed) && allowed.length > 0)
    return `must be ${allowed.map((value) => JSON.stringify(value)).join(' or ')}`
  return error.message ?? 'is not valid'
}

interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: unknown
  readonly items?: Schema | readonly Schema[]
  readonly anyOf?: readonly Schema[]
}

/** The schema with every object closed, so that members without a name in it are removed and never reach a use case.
 * Objects of which several may be meant stay open: a branch that does not fit would remove what another needs. */
function closed(schema: Schema): Schema {
  if (schema.anyOf) {
    const objects = schema.anyOf.filter((branch) => branch.type === 'object')
    return { ...schema, anyOf: objects.length > 1 ? schema.anyOf : schema.anyOf.map(closed) }
  }
  const { properties, items } = schema
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, member]) => [name, closed(member)]),
      ),
      additionalProperties: schema.additionalProperties ?? false,
    }),
    ...(items && { items: Array.isArray(items) ? items.map(closed) : closed(items as Schema) }),
  }
}
