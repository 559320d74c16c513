import {
  canonicalText,
  compareValues,
  isEqualValue,
  type RtdbFilter,
  type RtdbOperator,
} from '@kith/protocol'
import { RtdbFailure } from './rtdb-failure.ts'
import { isJsonObject, isTooDeep, type JsonObject, memberOf } from './values.ts'

/** Does the document, as it is read, pass? */
export type CompiledFilter = (document: JsonObject) => boolean

type ValueTest = (value: unknown) => boolean
type MakeTest = (operand: unknown) => ValueTest

const makers: Readonly<Record<RtdbOperator, MakeTest>> = {
  equals: (operand) => {
    const equals = equalTo(operand)
    return (value) => value !== undefined && equals(value)
  },
  notEquals: (operand) => {
    const equals = equalTo(operand)
    return (value) => value === undefined || !equals(value)
  },
  greaterThan: (operand) => (value) => value !== undefined && compareValues(value, operand) > 0,
  greaterThanOrEqual: (operand) => (value) => value !== undefined && compareValues(value, operand) >= 0,
  lessThan: (operand) => (value) => value !== undefined && compareValues(value, operand) < 0,
  lessThanOrEqual: (operand) => (value) => value !== undefined && compareValues(value, operand) <= 0,
  inArray: (operand) => {
    const texts = textsOf(operand)
    return (value) => value !== undefined && texts.has(canonicalText(value))
  },
  notInArray: (operand) => {
    const texts = textsOf(operand)
    return (value) => value === undefined || !texts.has(canonicalText(value))
  },
  arrayContains: (operand) => {
    const equals = equalTo(operand)
    return (value) => Array.isArray(value) && value.some(equals)
  },
  arrayContainsAny: (operand) => {
    const texts = textsOf(operand)
    return (value) => Array.isArray(value) && value.some((element) => texts.has(canonicalText(element)))
  },
  arrayContainsAll: (operand) => {
    const texts = textsOf(operand)
    return (value) => Array.isArray(value) && containsAll(value, texts)
  },
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

/** The conditions of a filter. An option that is known and malformed is refused; others are ignored. */
export function conditionsOf(filter: RtdbFilter | undefined): FilterCondition[] {
  if (filter === undefined) return []
  if (!isJsonObject(filter)) throw new RtdbFailure(400, 'A filter is an object')
  if (isTooDeep(filter)) throw new RtdbFailure(400, 'This filter is nested too deeply')
  return (Object.keys(makers) as RtdbOperator[]).flatMap((operator) => {
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

/** A filter made ready for many documents. */
export function compileFilter(filter: RtdbFilter | undefined): CompiledFilter {
  const tests = conditionsOf(filter).map(({ operator, field, operand }) => ({
    field,
    passes: makers[operator](operand),
  }))
  return (document) => tests.every(({ field, passes }) => passes(memberOf(document, field)))
}

/** For a single document; `compileFilter` is for many. */
export function matchesFilter(filter: RtdbFilter | undefined, document: JsonObject): boolean {
  return compileFilter(filter)(document)
}

function equalTo(operand: unknown): ValueTest {
  if (typeof operand !== 'object' || operand === null) return (value) => isEqualValue(value, operand)
  const text = canonicalText(operand)
  return (value) => typeof value === 'object' && value !== null && canonicalText(value) === text
}

function textsOf(operand: unknown): ReadonlySet<string> {
  return new Set((operand as readonly unknown[]).map(canonicalText))
}

function containsAll(elements: readonly unknown[], texts: ReadonlySet<string>): boolean {
  if (texts.size === 0) return true
  const found = new Set<string>()
  for (const element of elements) {
    const text = canonicalText(element)
    if (texts.has(text)) found.add(text)
  }
  return found.size === texts.size
}
