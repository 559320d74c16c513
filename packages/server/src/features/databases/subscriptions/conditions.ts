import type { RtdbFilter, RtdbOperator } from '@kith/protocol'
import { conditionsOf as filterConditions } from '../engine/filter.ts'
import { identityOf } from '../engine/value-identities.ts'

/** Something that every document has that meets a filter: one of these values in a field, or among its elements. */
export interface Condition {
  readonly field: string
  readonly of: 'value' | 'element'
  /** Their identities. */
  readonly keys: readonly unknown[]
}

// A longer list of alternatives is looked at as a whole instead of being spread over the index.
const maxAlternatives = 100

type Lookup = (operand: unknown) => { readonly of: Condition['of']; readonly values: readonly unknown[] }

const lookups: Partial<Record<RtdbOperator, Lookup>> = {
  equals: (operand) => ({ of: 'value', values: [operand] }),
  inArray: (operand) => ({ of: 'value', values: operand as readonly unknown[] }),
  arrayContains: (operand) => ({ of: 'element', values: [operand] }),
  arrayContainsAny: (operand) => ({ of: 'element', values: operand as readonly unknown[] }),
}

/** Every condition of a filter that can be looked up; none when it has to be evaluated. */
export function conditionsOf(filter: RtdbFilter | undefined): readonly Condition[] {
  return filterConditions(filter).flatMap(({ operator, field, operand }) => {
    if (operator === 'arrayContainsAll') return containsAll(field, operand as readonly unknown[])
    const lookup = lookups[operator]?.(operand)
    return lookup ? conditionOn(field, lookup) : []
  })
}

/** One of them is enough to find the documents that may have all. */
function containsAll(field: string, values: readonly unknown[]): readonly Condition[] {
  return values.length > 0 ? conditionOn(field, { of: 'element', values: values.slice(0, 1) }) : []
}

function conditionOn(field: string, { of, values }: ReturnType<Lookup>): readonly Condition[] {
  const keys = [...new Set(values.map(identityOf))]
  return keys.length > maxAlternatives ? [] : [{ field, of, keys }]
}
