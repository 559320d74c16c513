import { createHash } from 'node:crypto'
import { canonicalText, foldText } from '@kith/protocol'
import { RtdbFailure } from './rtdb-failure.ts'
import { isJsonObject, type JsonObject, memberOf, plainObject } from './values.ts'

/** What `$query` asks inside the transaction. */
export interface ComputedQuery {
  readonly name: 'count' | 'sum' | 'avg' | 'min' | 'max' | 'exists' | 'first' | 'last'
  readonly path: string
  readonly field: string | undefined
}

/** What computed values are computed from. */
export interface ComputeContext {
  /** Unix seconds. */
  readonly now: number
  /** The document that is written, by its top-level fields, for `{$field}`. */
  readonly fieldOf: (name: string) => unknown
  readonly query: (query: ComputedQuery) => Promise<unknown>
  /** Counts bytes that are read or made; throws 413 when one transaction has too many. */
  readonly spend: (bytes: number) => void
  /** Lets others run when it has taken a while. */
  readonly giveWay: () => Promise<unknown>
}

/** A value of `data` with everything in it computed; undefined where nothing is to be written. `current` is what stands
 * in its place. */
export async function computeValue(
  context: ComputeContext,
  value: unknown,
  current: unknown,
): Promise<unknown> {
  if (Array.isArray(value)) return computeEach(context, value)
  if (!isJsonObject(value)) return value
  if (Object.hasOwn(value, '$op')) {
    const operands = await computeOperands(context, value)
    context.spend(bytesOf(current) + bytesOf(operands))
    await context.giveWay()
    return applyOp(operands, current)
  }
  if (Object.hasOwn(value, '$fn')) return applyFunction(context, value, current)
  if (Object.hasOwn(value, '$query')) return askQuery(context, value)
  const computed = plainObject()
  for (const name of Object.keys(value)) {
    const before = isJsonObject(current) ? memberOf(current, name) : undefined
    const member = await computeValue(context, value[name], before)
    if (member !== undefined) computed[name] = member
  }
  return computed
}

/** Is there anything to compute? Most data has nothing, and is taken as it is. */
export function hasComputed(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasComputed)
  if (!isJsonObject(value)) return false
  return Object.keys(value).some(
    (name) => name === '$op' || name === '$fn' || name === '$query' || hasComputed(value[name]),
  )
}

async function computeEach(context: ComputeContext, values: readonly unknown[]): Promise<unknown[]> {
  const computed: unknown[] = []
  for (const value of values) computed.push((await computeValue(context, value, undefined)) ?? null)
  return computed
}

async function computeOperands(context: ComputeContext, value: JsonObject): Promise<JsonObject> {
  const operands = plainObject({ $op: value.$op })
  for (const name of ['by', 'value', 'values'])
    if (Object.hasOwn(value, name)) operands[name] = await computeValue(context, value[name], undefined)
  return operands
}

type Op = (current: unknown, operands: JsonObject) => unknown

const ops: Readonly<Record<string, Op>> = {
  increment: (current, operands) => numberOr(current, 0) + numberOr(operands.by, 1),
  decrement: (current, operands) => numberOr(current, 0) - numberOr(operands.by, 1),
  multiply: (current, operands) => numberOr(current, 0) * needNumber(operands.by ?? operands.value),
  append: (current, operands) => [...arrayOr(current), ...valuesOf(operands)],
  remove: (current, operands) => {
    const gone = new Set(valuesOf(operands).map(canonicalText))
    return arrayOr(current).filter((element) => !gone.has(canonicalText(element)))
  },
  concat: (current, operands) => [current ?? '', ...valuesOf(operands)].map(needText).join(''),
  setIfNotExists: (current, operands) => (current === undefined ? operands.value : current),
  min: (current, operands) => Math.min(...numbersWith(current, operands)),
  max: (current, operands) => Math.max(...numbersWith(current, operands)),
}

function applyOp(operands: JsonObject, current: unknown): unknown {
  const op = typeof operands.$op === 'string' ? memberOf(ops, operands.$op) : undefined
  if (!op) throw new RtdbFailure(400, 'This $op is not known')
  const result = (op as Op)(current, operands)
  if (typeof result === 'number' && !Number.isFinite(result))
    throw new RtdbFailure(400, 'The result is no number of JSON')
  return result
}

function numbersWith(current: unknown, operands: JsonObject): number[] {
  const given = needNumber(operands.by ?? operands.value)
  return current === undefined ? [given] : [needNumber(current), given]
}

function numberOr(value: unknown, otherwise: number): number {
  return value === undefined ? otherwise : needNumber(value)
}

function needNumber(value: unknown): number {
  if (typeof value !== 'number') throw new RtdbFailure(400, 'A computed value needs a number here')
  return value
}

function needText(value: unknown): string {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') throw new RtdbFailure(400, 'A computed value needs a text here')
  return value
}

function arrayOr(value: unknown): readonly unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw new RtdbFailure(400, 'A computed value needs an array here')
  return value
}

/** `values`, or `value` alone. */
function valuesOf(operands: JsonObject): readonly unknown[] {
  if (operands.values !== undefined) return arrayOr(operands.values)
  const { value = operands.by } = operands
  if (value === undefined) throw new RtdbFailure(400, 'This $op needs value or values')
  return [value]
}

type TextFunction = (text: string) => unknown

const textFunctions: Readonly<Record<string, TextFunction>> = {
  lowercase: (text) => text.toLowerCase(),
  uppercase: (text) => text.toUpperCase(),
  trim: (text) => text.trim(),
  slugify,
}

async function applyFunction(context: ComputeContext, value: JsonObject, current: unknown): Promise<unknown> {
  const { $fn: name } = value
  if (name === 'now') return context.now
  const args = Object.hasOwn(value, 'args') ? value.args : [current]
  if (!Array.isArray(args)) throw new RtdbFailure(400, 'args is an array')
  const [argument] = args
  const isField = isJsonObject(argument) && typeof memberOf(argument, '$field') === 'string'
  const input = isField
    ? context.fieldOf(String(argument.$field))
    : await computeValue(context, argument, undefined)
  context.spend(bytesOf(input))
  await context.giveWay()
  if (name === 'hash') return hashOf(input)
  if (name === 'length') return lengthOf(input)
  const run = typeof name === 'string' ? memberOf(textFunctions, name) : undefined
  if (!run) throw new RtdbFailure(400, 'This $fn is not known')
  if (typeof input !== 'string') throw new RtdbFailure(400, `${name} is of a text`)
  return (run as TextFunction)(input)
}

function slugify(text: string): string {
  return foldText(text)
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
}

function hashOf(value: unknown): string {
  if (value === undefined) throw new RtdbFailure(400, 'There is nothing to hash')
  return createHash('sha256')
    .update(typeof value === 'string' ? value : canonicalText(value))
    .digest('hex')
}

/** Roughly, and not less than what it takes to read it. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  return typeof value === 'object' && value !== null ? JSON.stringify(value).length : 8
}

/** As iterating over the text counts them: two halves together are one. */
function countCharacters(text: string): number {
  let count = text.length
  for (let at = 1; at < text.length; at += 1) {
    const isPair = isHalf(text.charCodeAt(at), 0xdc00) && isHalf(text.charCodeAt(at - 1), 0xd800)
    if (isPair) count -= 1
  }
  return count
}

/** Is it one of the 1 024 code units of this kind of half? */
function isHalf(code: number, first: number): boolean {
  return code >= first && code < first + 0x400
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return countCharacters(value)
  if (Array.isArray(value)) return value.length
  if (isJsonObject(value)) return Object.keys(value).length
  throw new RtdbFailure(400, 'length is that of a text, an array or an object')
}

const queryNames: readonly ComputedQuery['name'][] = [
  'count',
  'sum',
  'avg',
  'min',
  'max',
  'exists',
  'first',
  'last',
]

async function askQuery(context: ComputeContext, { $query, path, field }: JsonObject): Promise<unknown> {
  const name = queryNames.find((it) => it === $query)
  if (!name) throw new RtdbFailure(400, 'This $query is not known')
  if (typeof path !== 'string') throw new RtdbFailure(400, 'A $query needs a path')
  if (field !== undefined && typeof field !== 'string') throw new RtdbFailure(400, 'field is a text')
  if (field === undefined && ['sum', 'avg', 'min', 'max'].includes(name))
    throw new RtdbFailure(400, `${name} needs a field`)
  return context.query({ name, path, field })
}
