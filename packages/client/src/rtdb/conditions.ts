import { compareValues, type RtdbFilter, type RtdbOperator, rtdbOperators } from '@kith/protocol'

/** The operators of Firebase. */
const aliases = {
  '==': 'equals',
  '!=': 'notInArray',
  '<': 'lessThan',
  '<=': 'lessThanOrEqual',
  '>': 'greaterThan',
  '>=': 'greaterThanOrEqual',
  in: 'inArray',
  'not-in': 'notInArray',
  'array-contains': 'arrayContains',
  'array-contains-any': 'arrayContainsAny',
} as const satisfies Readonly<Record<string, RtdbOperator>>

type Alias = keyof typeof aliases
/** An operator of the protocol, or one of Firebase. */
export type QueryOperator = RtdbOperator | Alias

export interface Condition {
  readonly field: string
  readonly operator: RtdbOperator
  readonly operand: unknown
  /** It only keeps values out of which Firebase holds no comparison to be true. */
  readonly isBound?: boolean
}

const listOperators: ReadonlySet<string> = new Set<QueryOperator>([
  'inArray',
  'notInArray',
  'arrayContainsAny',
  'arrayContainsAll',
  'in',
  'not-in',
  'array-contains-any',
])

/** The conditions before, with those that a call of `where` adds. Throws a `TypeError` for an unknown operator, an operand that it does
 * not take, and a second condition of the same field and operator. */
export function withCondition(
  before: readonly Condition[],
  field: string,
  operator: QueryOperator,
  operand: unknown,
): readonly Condition[] {
  if (!isOperator(operator)) {
    const known = [...rtdbOperators, ...Object.keys(aliases)].join(', ')
    throw new TypeError(`there is no operator "${operator}"; there are ${known}`)
  }
  // JSON has no undefined: the condition would be lost, and more would match.
  if (typeof field !== 'string' || operand === undefined)
    throw new TypeError(`where("${field}", "${operator}", …) needs the name of a field and a value`)
  if (listOperators.has(operator) && !Array.isArray(operand))
    throw new TypeError(`where("${field}", "${operator}", …) needs an array`)
  const added = Object.hasOwn(aliases, operator)
    ? asInFirebase(field, operator as Alias, operand)
    : [{ field, operator: operator as RtdbOperator, operand }]
  const isTwice = before.some(
    (one) => !one.isBound && one.field === field && one.operator === added[0]?.operator,
  )
  if (isTwice)
    throw new TypeError(`where("${field}", "${operator}", …) would replace a condition of "${field}"`)
  return [...before, ...added]
}

/** The filter of all conditions. A bound gives way to a condition of the application, and to a narrower bound. */
export function filterOf(conditions: readonly Condition[]): RtdbFilter {
  const byOperator = new Map<RtdbOperator, Map<string, unknown>>()
  const own = conditions.filter(({ isBound }) => !isBound)
  const bounds = conditions
    .filter(({ isBound }) => isBound)
    .sort((one, other) => compareValues(other.operand, one.operand))
  for (const { field, operator, operand } of [...own, ...bounds]) {
    const fields = byOperator.get(operator) ?? new Map<string, unknown>()
    if (!fields.has(field)) fields.set(field, operand)
    byOperator.set(operator, fields)
  }
  return Object.fromEntries(
    [...byOperator].map(([operator, fields]) => [operator, Object.fromEntries(fields)]),
  )
}

function isOperator(operator: string): operator is QueryOperator {
  return rtdbOperators.some((one) => one === operator) || Object.hasOwn(aliases, operator)
}

// All values have one order, in which texts come before numbers, and numbers before all others: the protocol compares values of
// different kinds, and Firebase does not.
const firstText = ''
const firstNumber = -Number.MAX_VALUE
const lastNumber = Number.MAX_VALUE

/** The condition under the name that it has here, and what else it means in Firebase: only values of the kind of the operand compare as
 * less or greater, and fields that are absent or null are neither unequal to a value nor outside of a list. */
function asInFirebase(field: string, alias: Alias, operand: unknown): readonly Condition[] {
  const bound = (operator: RtdbOperator, limit: unknown) => ({
    field,
    operator,
    operand: limit,
    isBound: true,
  })
  const condition = { field, operator: aliases[alias], operand }
  switch (alias) {
    case '!=':
      return [{ ...condition, operand: [operand, null] }, bound('greaterThanOrEqual', firstText)]
    case 'not-in':
      return [
        { ...condition, operand: [...(operand as readonly unknown[]), null] },
        bound('greaterThanOrEqual', firstText),
      ]
    case '<':
    case '<=':
      return typeof operand === 'number' ? [condition, bound('greaterThanOrEqual', firstNumber)] : [condition]
    case '>':
    case '>=':
      if (typeof operand === 'number') return [condition, bound('lessThanOrEqual', lastNumber)]
      return typeof operand === 'string' ? [condition, bound('lessThan', firstNumber)] : [condition]
    default:
      return [condition]
  }
}
