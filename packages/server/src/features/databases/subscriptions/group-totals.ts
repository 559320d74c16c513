import { compareTexts, type RtdbGroup } from '@kith/protocol'
import { ExactSum } from '#lib/exact-sum.ts'
import { type CompiledAggregate, groupsOf } from '../engine/aggregate.ts'
import { type JsonObject, memberOf, plainObject } from '../engine/values.ts'
import { Extremes } from './extremes.ts'

interface FieldTotals {
  count: number
  readonly sum: ExactSum
  /** Where the smallest or largest is asked for. */
  readonly extremes: Extremes<number> | undefined
}

interface Group {
  count: number
  readonly fields: readonly FieldTotals[]
}

/** The rows of an aggregate over documents that come and go: a change costs what its own groups cost. Bound: `weight`, of
 * which who keeps them has so much in all. */
export class GroupTotals {
  readonly #aggregate: CompiledAggregate
  readonly #groups = new Map<string, Group>()
  readonly #extremeFields: ReadonlySet<string>
  #weight = 0

  constructor(aggregate: CompiledAggregate) {
    this.#aggregate = aggregate
    const extreme = aggregate.ops.filter(({ op }) => op === 'min' || op === 'max')
    this.#extremeFields = new Set(extreme.map(({ field }) => field))
  }

  /** About how many values it holds. */
  get weight(): number {
    return this.#weight
  }

  add(document: JsonObject): void {
    for (const name of groupsOf(this.#aggregate.groupBy, document)) {
      const group = this.#groups.get(name) ?? this.#open(name)
      group.count += 1
      this.#eachNumber(group, document, (total, value) => {
        total.count += 1
        total.sum.add(value)
        total.extremes?.add(value)
      })
    }
  }

  remove(document: JsonObject): void {
    for (const name of groupsOf(this.#aggregate.groupBy, document)) {
      const group = this.#groups.get(name)
      if (!group) continue
      group.count -= 1
      this.#eachNumber(group, document, (total, value) => {
        total.count -= 1
        total.sum.add(-value)
        total.extremes?.remove(value)
      })
      if (group.count > 0) continue
      this.#groups.delete(name)
      this.#weight -= 1
    }
  }

  /** The row of a group; `count: 0` and nothing else where no document counts in it any more. */
  row(name: string): RtdbGroup {
    const group = this.#groups.get(name)
    const row = plainObject({ group: name, count: group?.count ?? 0 })
    for (const { op, field } of group ? this.#aggregate.ops : []) {
      const total = group?.fields[this.#aggregate.fields.indexOf(field)]
      const value = total && totalOf(op, total)
      if (value !== undefined) row[`${op}_${field}`] = value
    }
    return row as RtdbGroup
  }

  rows(names: Iterable<string> = this.#groups.keys()): RtdbGroup[] {
    return [...names]
      .map((name) => this.row(name))
      .sort((a, b) => b.count - a.count || compareTexts(a.group, b.group))
  }

  #open(name: string): Group {
    const fields = this.#aggregate.fields.map((field) => ({
      count: 0,
      sum: new ExactSum(),
      extremes: this.#extremeFields.has(field) ? new Extremes<number>((a, b) => a - b, String) : undefined,
    }))
    const group: Group = { count: 0, fields }
    this.#groups.set(name, group)
    this.#weight += 1
    return group
  }

  #eachNumber(group: Group, document: JsonObject, apply: (total: FieldTotals, value: number) => void): void {
    this.#aggregate.fields.forEach((field, index) => {
      const total = group.fields[index]
      const value = memberOf(document, field)
      if (!total || typeof value !== 'number') return
      const before = total.extremes?.size ?? 0
      apply(total, value)
      this.#weight += (total.extremes?.size ?? 0) - before
    })
  }
}

function totalOf(
  op: CompiledAggregate['ops'][number]['op'],
  { count, sum, extremes }: FieldTotals,
): number | undefined {
  if (op === 'sum') return finite(sum.value)
  if (count === 0) return undefined
  if (op === 'avg') return finite(sum.value / count)
  return op === 'min' ? extremes?.min : extremes?.max
}

/** JSON has no infinity, which a sum of large numbers comes to. */
function finite(value: number): number {
  return Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE)
}
