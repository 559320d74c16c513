import type { RtdbSort } from '@kith/protocol'
import type { FilterCondition } from './filter.ts'
import type { FieldIndex } from './index-store.ts'
import { compareKept, elementKey, elementLookUps, valueKey } from './sort-keys.ts'

/** How the documents that may pass are found. Each of them is looked at again: keys of long values are cut. */
export type QueryPlan =
  | { readonly kind: 'scan' }
  /** Entries from one key to another, both included. */
  | { readonly kind: 'ranges'; readonly index: FieldIndex; readonly ranges: readonly KeyRange[] }
  /** All documents in the order of an index, until there are enough. */
  | { readonly kind: 'walk'; readonly index: FieldIndex; readonly ascending: boolean }

export interface KeyRange {
  readonly from: string
  readonly to: string
}

// Beyond, a scan costs less than so many look-ups.
const maxPoints = 100
// Absent values come first, with `v0`; whole values all begin with `v`.
const firstPresent = 'v1'
const lastPresent = 'v8'

interface Wanted {
  readonly conditions: readonly FilterCondition[]
  readonly sort: RtdbSort | undefined
  readonly hasLimit: boolean
}

/** The cheapest plan, by the look of the conditions: values first, then elements, then ranges, then the order. */
export function planQuery(indexes: readonly FieldIndex[], { conditions, sort, hasLimit }: Wanted): QueryPlan {
  const usable = indexes.filter(({ builtTo }) => builtTo === null)
  const plans = usable.flatMap((index) => {
    const own = conditions.filter(({ field }) => field === index.field)
    const ranges = pointsOf(own) ?? rangeOf(own)
    return ranges ? [{ kind: 'ranges' as const, index, ranges }] : []
  })
  // Equal keys select fewer entries than a range.
  const narrow = plans.find(({ ranges }) => ranges.every(({ from, to }) => from === to))
  const walk = hasLimit ? walkOf(usable, sort) : undefined
  return narrow ?? walk ?? plans[0] ?? { kind: 'scan' }
}

function walkOf(indexes: readonly FieldIndex[], sort: RtdbSort | undefined): QueryPlan | undefined {
  const [first, second] = sort ?? []
  const index = indexes.find(({ field }) => field === first?.field)
  return first && !second && index ? { kind: 'walk', index, ascending: first.ascending } : undefined
}

function pointsOf(conditions: readonly FilterCondition[]): KeyRange[] | undefined {
  for (const { operator, operand } of conditions) {
    const keys = keysOf(operator, operand)
    if (keys && keys.length <= maxPoints) return [...new Set(keys)].map((key) => ({ from: key, to: key }))
  }
  return undefined
}

/** The keys of the entries that documents have of which the condition is true; undefined when it is not about single
 * values. */
function keysOf(operator: FilterCondition['operator'], operand: unknown): string[] | undefined {
  const list = Array.isArray(operand) ? operand : []
  if (operator === 'equals') return wholeKeys([operand])
  if (operator === 'inArray') return wholeKeys(list)
  if (operator === 'arrayContains') return elementLookUps([elementKey(operand)])
  if (operator === 'arrayContainsAny') return elementLookUps(list.map(elementKey))
  if (operator === 'arrayContainsAll' && list.length > 0) return elementLookUps([elementKey(list[0])])
  return undefined
}

/** Leaves out values that have no key: no document can hold them. */
function wholeKeys(values: readonly unknown[]): string[] {
  return values.flatMap((value) => {
    const key = valueKey(value)
    return key === undefined ? [] : [`v${key}`]
  })
}

function rangeOf(conditions: readonly FilterCondition[]): KeyRange[] | undefined {
  let from = firstPresent
  let to = lastPresent
  for (const { operator, operand } of conditions) {
    const key = `v${valueKey(operand)}`
    if (valueKey(operand) === undefined) continue
    if (operator.startsWith('greaterThan') && compareKept(key, from) > 0) from = key
    if (operator.startsWith('lessThan') && compareKept(to, key) > 0) to = key
  }
  return from === firstPresent && to === lastPresent ? undefined : [{ from, to }]
}
