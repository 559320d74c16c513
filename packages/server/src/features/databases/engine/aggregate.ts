import { canonicalText, compareTexts, type RtdbAggregate, type RtdbGroup } from '@kith/protocol'
import { RtdbFailure } from './rtdb-failure.ts'
import { isJsonObject, type JsonObject, memberOf, plainObject } from './values.ts'

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

interface FieldTotals {
  count: number
  sum: number
  min: number
  max: number
}

interface GroupTotals {
  count: number
  readonly fields: readonly FieldTotals[]
}

/** Rows under way: documents are added one by one. */
export class AggregateTotals {
  readonly #aggregate: CompiledAggregate
  // Bounded by `textBytes`, which who adds documents looks at.
  readonly #groups = new Map<string, GroupTotals>()
  #textBytes = 0

  constructor(aggregate: CompiledAggregate) {
    this.#aggregate = aggregate
  }

  /** About what the rows take as JSON. */
  get textBytes(): number {
    return this.#textBytes
  }

  add(document: JsonObject): void {
    const { groupBy, fields } = this.#aggregate
    for (const group of groupsOf(groupBy, document)) {
      const totals = this.#groups.get(group) ?? this.#open(group)
      totals.count += 1
      fields.forEach((field, index) => {
        const value = memberOf(document, field)
        const total = totals.fields[index]
        if (typeof value === 'number' && total) addNumber(total, value)
      })
    }
  }

  rows(): RtdbGroup[] {
    return [...this.#groups]
      .map(([group, totals]) => this.#row(group, totals))
      .sort((a, b) => b.count - a.count || compareTexts(a.group, b.group))
  }

  #open(group: string): GroupTotals {
    const { fields, ops } = this.#aggregate
    const totals: GroupTotals = {
      count: 0,
      fields: fields.map(() => ({
        count: 0,
        sum: 0,
        min: Number.POSITIVE_INFINITY,
        max: Number.NEGATIVE_INFINITY,
      })),
    }
    this.#groups.set(group, totals)
    // A name and a number for each operation.
    this.#textBytes += group.length + ops.reduce((sum, { field }) => sum + field.length + 24, 32)
    return totals
  }

  #row(group: string, totals: GroupTotals): RtdbGroup {
    const row = plainObject({ group, count: totals.count })
    for (const { op, field } of this.#aggregate.ops) {
      const total = totals.fields[this.#aggregate.fields.indexOf(field)]
      const value = total && totalOf(op, total)
      if (value !== undefined) row[`${op}_${field}`] = value
    }
    return row as RtdbGroup
  }
}

function addNumber(total: FieldTotals, value: number): void {
  total.count += 1
  total.sum += value
  total.min = Math.min(total.min, value)
  total.max = Math.max(total.max, value)
}

function totalOf(op: AggregateOp, { count, sum, min, max }: FieldTotals): number | undefined {
  if (op === 'sum') return finite(sum)
  if (count === 0) return undefined
  if (op === 'avg') return finite(sum / count)
  return op === 'min' ? min : max
}

/** JSON has no infinity, which a sum of large numbers comes to. */
function finite(value: number): number {
  return Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE)
}

/** The rows of an aggregate over documents as they are read. */
export function aggregateRows(aggregate: RtdbAggregate, documents: Iterable<JsonObject>): RtdbGroup[] {
  const totals = new AggregateTotals(compileAggregate(aggregate))
  for (const document of documents) totals.add(document)
  return totals.rows()
}
