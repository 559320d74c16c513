import { canonicalText, type RtdbAggregate } from '@kith/protocol'
import { RtdbFailure } from './rtdb-failure.ts'
import { isJsonObject, type JsonObject, memberOf } from './values.ts'

const names = ['sum', 'avg', 'min', 'max'] as const
type AggregateOp = (typeof names)[number]

/** An aggregate that is checked and made ready for many documents. */
export interface CompiledAggregate {
  readonly groupBy: string
  readonly ops: readonly { readonly op: AggregateOp; readonly field: string }[]
  /** The fields of all `ops`, each once. */
  readonly fields: readonly string[]
}

export function compileAggregate(aggregate: RtdbAggregate): CompiledAggregate {
  const isOp = (it: unknown) =>
    isJsonObject(it) && typeof it.field === 'string' && names.includes(it.op as AggregateOp)
  const { groupBy, ops = [] } = isJsonObject(aggregate) ? aggregate : { groupBy: undefined }
  if (typeof groupBy !== 'string' || !Array.isArray(ops) || !ops.every(isOp))
    throw new RtdbFailure(400, 'aggregate is {groupBy, ops?: [{op: sum, avg, min or max, field}]}')
  return { groupBy, ops, fields: [...new Set(ops.map(({ field }) => field))] }
}

/** The groups that a document counts in: one for each element of an array, none where it has no such field. */
export function groupsOf(groupBy: string, document: JsonObject): string[] {
  const value = memberOf(document, groupBy)
  if (value === undefined) return []
  return Array.isArray(value) ? value.map(groupText) : [groupText(value)]
}

function groupText(value: unknown): string {
  return typeof value === 'string' ? value : canonicalText(value)
}
