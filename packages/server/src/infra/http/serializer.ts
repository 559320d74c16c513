import type { TSchema } from 'typebox'
import { RawJson } from './raw-json.ts'

/** An answer that its contract does not describe: a bug. */
export class ContractBreach extends Error {
  constructor(path: string, expected: string) {
    super(`the answer breaks its contract: ${path === '' ? 'it' : path} is not ${expected}`)
    this.name = 'ContractBreach'
  }
}

/** Writes values of a schema as JSON text. Members that the schema does not name are left out; a missing or wrong one
 * is a `ContractBreach`. */
export function compileSerializer(schema: TSchema): (value: unknown) => string {
  return writerOf(compile(schema, ''))
}

/** The keywords that output schemas use. */
interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly items?: Schema | readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

// JSON.stringify writes a whole tree faster than generated code writes its leaves. So values are projected on the schema and written at
// once, and only what may hold RawJson is put together as text.
type Node =
  | { readonly kind: 'projected'; readonly project: (value: unknown) => unknown }
  | { readonly kind: 'spliced'; readonly write: (value: unknown) => string }

function projected(project: (value: unknown) => unknown): Node {
  return { kind: 'projected', project }
}

function writerOf(node: Node): (value: unknown) => string {
  return node.kind === 'spliced' ? node.write : (value) => JSON.stringify(node.project(value))
}

function compile(schema: Schema, path: string): Node {
  if (schema.anyOf) return compileUnion(schema.anyOf, path)
  if (schema.allOf) return compile(merged(schema.allOf), path)
  switch (schema.type) {
    case 'string':
      return primitive('string', path)
    case 'boolean':
      return primitive('boolean', path)
    case 'integer':
      return projected((value) => (Number.isSafeInteger(value) ? value : breach(path, 'a whole number')))
    case 'number':
      return projected((value) => (Number.isFinite(value) ? value : breach(path, 'a finite number')))
    case 'null':
      return projected((value) => (value === null || value === undefined ? null : breach(path, 'null')))
    case 'array':
      return compileArray(schema, path)
    case 'object':
      if (schema.properties) return compileObject(schema, schema.properties, path)
      return schema.patternProperties ? compileRecord(schema.patternProperties, path) : freeJson(path)
    case undefined:
      return schema.const === undefined && schema.enum === undefined ? freeJson(path) : literal(path)
    default:
      throw new TypeError(`the schema of ${path} has the unknown type ${schema.type}`)
  }
}

function breach(path: string, expected: string): never {
  throw new ContractBreach(path, expected)
}

function primitive(type: 'string' | 'boolean', path: string): Node {
  return projected((value) => (typeof value === type ? value : breach(path, `a ${type}`)))
}

function literal(path: string): Node {
  return projected((value) =>
    typeof value === 'object' || value === undefined ? breach(path, 'a literal') : value,
  )
}

function freeJson(path: string): Node {
  const write = (value: unknown) => {
    if (value instanceof RawJson) return value.text
    const text: string | undefined = JSON.stringify(value)
    return text ?? breach(path, 'JSON')
  }
  return { kind: 'spliced', write }
}

function compileArray(schema: Schema, path: string): Node {
  const { items } = schema
  if (items === undefined) return freeJson(path)
  if (isTuple(items)) return compileTuple(items, path)
  const item = compile(items, `${path}/*`)
  const listOf = (value: unknown): readonly unknown[] =>
    Array.isArray(value) ? value : breach(path, 'a list')
  if (item.kind === 'projected') return projected((value) => listOf(value).map((each) => item.project(each)))
  return {
    kind: 'spliced',
    write: (value) =>
      `[${listOf(value)
        .map((each) => item.write(each))
        .join(',')}]`,
  }
}

function isTuple(items: Schema | readonly Schema[]): items is readonly Schema[] {
  return Array.isArray(items)
}

function compileTuple(items: readonly Schema[], path: string): Node {
  const writers = items.map((item, at) => writerOf(compile(item, `${path}/${at}`)))
  const write = (value: unknown) => {
    if (!Array.isArray(value) || value.length !== writers.length) breach(path, `a list of ${writers.length}`)
    return `[${writers.map((writeItem, at) => writeItem(value[at])).join(',')}]`
  }
  return { kind: 'spliced', write }
}

interface Member {
  readonly name: string
  readonly isRequired: boolean
  readonly isNullable: boolean
  readonly node: Node
}

function compileObject(schema: Schema, properties: Readonly<Record<string, Schema>>, path: string): Node {
  const members = Object.entries(properties).map(([name, property]): Member => {
    const isRequired = schema.required?.includes(name) ?? false
    const node = compile(property, `${path}/${name}`)
    return { name, isRequired, isNullable: takesNull(property), node }
  })
  const project = projectionOf(members)
  const splices = members.flatMap((member) =>
    member.node.kind === 'spliced'
      ? [{ ...member, write: member.node.write, key: `${JSON.stringify(member.name)}:` }]
      : [],
  )
  if (splices.length === 0) return projected((value) => project(objectOf(value, path)))
  const write = (value: unknown) => {
    const source = objectOf(value, path)
    let text = JSON.stringify(project(source)).slice(0, -1)
    for (const member of splices) {
      const held = memberOf(source, member.name)
      if (!isLeftOut(held, member)) text += (text === '{' ? '' : ',') + member.key + member.write(held)
    }
    return `${text}}`
  }
  return { kind: 'spliced', write }
}

type Source = Readonly<Record<string, unknown>>

/** Makes the function that copies the members which need no splicing. It is generated as one object literal: V8 builds
 * that several times faster than an object to which members are added by name. */
function projectionOf(members: readonly Member[]): (source: Source) => object {
  const projections = members.flatMap((member) => {
    const { name, node } = member
    if (node.kind !== 'projected') return []
    // A member that is undefined is not written.
    const copyIfThere = (held: unknown) => (isLeftOut(held, member) ? undefined : node.project(held))
    return [{ name, copy: member.isRequired ? node.project : copyIfThere }]
  })
  const literal = projections.map(
    ({ name }, at) => `[${JSON.stringify(name)}]: copy${at}(${memberCode(name)})`,
  )
  const make = new Function(
    ...projections.map((_, at) => `copy${at}`),
    `return (source) => ({ ${literal.join(', ')} })`,
  )
  return make(...projections.map(({ copy }) => copy))
}

// Every object has a `toString`, which is no member of an answer.
const inherited = new Set(Object.getOwnPropertyNames(Object.prototype))

function memberOf(source: Source, name: string): unknown {
  return inherited.has(name) && !Object.hasOwn(source, name) ? undefined : source[name]
}

/** The same as code, which for other names is a plain access. */
function memberCode(name: string): string {
  const access = `source[${JSON.stringify(name)}]`
  return inherited.has(name)
    ? `Object.hasOwn(source, ${JSON.stringify(name)}) ? ${access} : undefined`
    : access
}

function objectOf(value: unknown, path: string): Source {
  return typeof value === 'object' && value !== null ? (value as Source) : breach(path, 'an object')
}

/** Optional members without a value are left out, whether the view has them undefined or the row had NULL. A required
 * one is never: whatever writes it refuses `undefined`. */
function isLeftOut(value: unknown, member: Member): boolean {
  return !member.isRequired && (value === undefined || (value === null && !member.isNullable))
}

function takesNull(schema: Schema): boolean {
  if (schema.anyOf) return schema.anyOf.some(takesNull)
  return schema.type === 'null' || (schema.type === undefined && !schema.allOf && schema.const === undefined)
}

function compileRecord(patterns: Readonly<Record<string, Schema>>, path: string): Node {
  const [schema = {}] = Object.values(patterns)
  const write = writerOf(compile(schema, `${path}/*`))
  const writeRecord = (value: unknown) => {
    const members = Object.entries(objectOf(value, path)).filter(([, member]) => member !== undefined)
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${write(member)}`).join(',')}}`
  }
  return { kind: 'spliced', write: writeRecord }
}

function merged(parts: readonly Schema[]): Schema {
  return {
    type: 'object',
    properties: Object.assign({}, ...parts.map((part) => part.properties)),
    required: parts.flatMap((part) => part.required ?? []),
  }
}

function compileUnion(branches: readonly Schema[], path: string): Node {
  const nodes = branches.map((branch) => ({ fits: fitOf(branch), node: compile(branch, path) }))
  const nodeFor = (value: unknown) =>
    nodes.find(({ fits }) => fits(value))?.node ?? breach(path, 'one of its forms')
  if (nodes.every(({ node }) => node.kind === 'projected')) {
    return projected((value) => {
      const node = nodeFor(value)
      return node.kind === 'projected' ? node.project(value) : breach(path, 'projected')
    })
  }
  return { kind: 'spliced', write: (value) => writerOf(nodeFor(value))(value) }
}

/** Whether a value has the form of a branch, by its type, its literals and the members it must have. */
function fitOf(schema: Schema): (value: unknown) => boolean {
  if (schema.anyOf) {
    const fits = schema.anyOf.map(fitOf)
    return (value) => fits.some((fit) => fit(value))
  }
  if (schema.const !== undefined) return (value) => value === schema.const
  if (schema.enum) return (value) => schema.enum?.includes(value) ?? false
  switch (schema.type) {
    case 'null':
      return (value) => value === null
    case 'integer':
    case 'number':
      return (value) => typeof value === 'number'
    case 'array':
      return Array.isArray
    case 'object':
      return fitOfObject(schema)
    case undefined:
      return (value) => value !== undefined
    default:
      return (value) => typeof value === schema.type
  }
}

function fitOfObject({ properties = {}, required = [] }: Schema): (value: unknown) => boolean {
  const fits = required.map((name) => ({ name, fit: fitOf(properties[name] ?? {}) }))
  return (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    fits.every(({ name, fit }) => fit((value as Record<string, unknown>)[name]))
}
