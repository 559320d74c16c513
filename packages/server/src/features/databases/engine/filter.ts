import type { RtdbFilter, RtdbOperator } from '@kith/protocol'
import { RtdbFailure } from './rtdb-failure.ts'
import { identityOf, ValueIdentities } from './value-identities.ts'
import { isJsonObject, isTooDeep, type JsonObject, memberOf } from './values.ts'

/** Does the document, as it is read, pass? Filters that are asked about the same document share its `identities`. */
export type CompiledFilter = (document: JsonObject, identities?: ValueIdentities) => boolean

/** `value` is undefined where the document has no such field. */
type ValueTest = (value: unknown, identities: ValueIdentities) => boolean
type MakeTest = (operand: unknown) => ValueTest

const makers: Readonly<Record<RtdbOperator, MakeTest>> = {
  equals: isAmong,
  notEquals: (operand) => not(isAmong(operand)),
  greaterThan: (operand) => compares(operand, (difference) => difference > 0),
  greaterThanOrEqual: (operand) => compares(operand, (difference) => difference >= 0),
  lessThan: (operand) => compares(operand, (difference) => difference < 0),
  lessThanOrEqual: (operand) => compares(operand, (difference) => difference <= 0),
  inArray: (operand) => isAmong(...(operand as readonly unknown[])),
  notInArray: (operand) => not(isAmong(...(operand as readonly unknown[]))),
  arrayContains: (operand) => containsSome([operand]),
  arrayContainsAny: (operand) => containsSome(operand as readonly unknown[]),
  arrayContainsAll: (operand) => containsAll(operand as readonly unknown[]),
}

const listOperators: ReadonlySet<string> = new Set<RtdbOperator>([
  'inArray',
  'notInArray',
  'arrayContainsAny',
  'arrayContainsAll',
])

/** A condition of a filter: all of them have to hold. */
export interface FilterCondition {
  readonly operator: RtdbOperator
  readonly field: string
  /** An array for the operators whose names say so. */
  readonly operand: unknown
}

/** The conditions of a filter. Throws 400 for an unknown operator: without it the filter would let more pass. */
export function conditionsOf(filter: RtdbFilter | undefined): FilterCondition[] {
  if (filter === undefined) return []
  if (!isJsonObject(filter)) throw new RtdbFailure(400, 'A filter is an object')
  if (isTooDeep(filter)) throw new RtdbFailure(400, 'This filter is nested too deeply')
  return Object.keys(filter).flatMap((operator) => {
    if (!isOperator(operator))
      throw new RtdbFailure(400, `There is no operator ${JSON.stringify(operator.slice(0, 40))}`)
    const operands = memberOf(filter, operator)
    if (operands === undefined) return []
    if (!isJsonObject(operands)) throw new RtdbFailure(400, `${operator} is an object of fields`)
    return Object.keys(operands).map((field) => {
      const operand = operands[field]
      if (listOperators.has(operator) && !Array.isArray(operand))
        throw new RtdbFailure(400, `${operator} needs an array for each field`)
      return { operator, field, operand }
    })
  })
}

function isOperator(name: string): name is RtdbOperator {
  return Object.hasOwn(makers, name)
}

/** How many conditions it has, each value of a list counted. */
export function countConditions(filter: RtdbFilter | undefined): number {
  return conditionsOf(filter).reduce(
    (count, { operator, operand }) =>
      count + (listOperators.has(operator) ? 1 + (operand as readonly unknown[]).length : 1),
    0,
  )
}

/** A filter made ready for many documents. */
export function compileFilter(filter: RtdbFilter | undefined): CompiledFilter {
  const tests = conditionsOf(filter).map(({ operator, field, operand }) => ({
    field,
    passes: makers[operator](operand),
  }))
  return (document, identities = new ValueIdentities()) =>
    tests.every(({ field, passes }) => passes(memberOf(document, field), identities))
}

/** For a single document; `compileFilter` is for many. */
export function matchesFilter(filter: RtdbFilter | undefined, document: JsonObject): boolean {
  return compileFilter(filter)(document)
}

function not(test: ValueTest): ValueTest {
  return (value, identities) => !test(value, identities)
}

function isAmong(...operands: readonly unknown[]): ValueTest {
  const wanted = new Set(operands.map(identityOf))
  // Nothing is made of a large value that cannot be meant.
  const hasObjects = operands.some((operand) => typeof operand === 'object' && operand !== null)
  return (value, identities) =>
    value !== undefined &&
    (hasObjects || typeof value !== 'object' || value === null) &&
    wanted.has(identities.of(value))
}

function compares(operand: unknown, holds: (difference: number) => boolean): ValueTest {
  return (value, identities) => value !== undefined && holds(identities.compare(value, operand))
}

function containsSome(operands: readonly unknown[]): ValueTest {
  const wanted = [...new Set(operands.map(identityOf))]
  return (value, identities) => {
    if (!Array.isArray(value)) return false
    const elements = identities.elements(value)
    return wanted.some((identity) => elements.has(identity))
  }
}

function containsAll(operands: readonly unknown[]): ValueTest {
  const wanted = [...new Set(operands.map(identityOf))]
  return (value, identities) => {
    if (!Array.isArray(value)) return false
    const elements = identities.elements(value)
    return wanted.every((identity) => elements.has(identity))
  }
}
