import { compareTexts, type RtdbGroup } from '@kith/protocol'
import { EventLoopTurns } from '#lib/event-loop-turns.ts'
import { ExactSum } from '#lib/exact-sum.ts'
import { type CompiledAggregate, groupsOf } from './aggregate.ts'
import { Extremes, RunningExtremes } from './extremes.ts'
import { sortInTurns } from './sort-in-turns.ts'
import { type JsonObject, memberOf, plainObject } from './values.ts'

interface FieldTotals {
  count: number
  readonly sum: ExactSum
  /** Where the smallest or largest is asked for. */
  readonly extremes: Extremes<number> | RunningExtremes | undefined
}

interface Group {
  readonly name: string
  count: number
  readonly fields: readonly FieldTotals[]
}

interface TotalsOptions {
  /** Whether documents may be removed: then values are kept to find the next minimum and maximum. */
  readonly canRemove: boolean
}

/** The rows of an aggregate, updated by each added or removed document at the cost of its own groups. Bound: `weight` and
 * `textBytes`, which the caller limits. */
export class GroupTotals {
  readonly #aggregate: CompiledAggregate
  readonly #options: TotalsOptions
  readonly #groups = new Map<string, Group>()
  readonly #extremeFields: ReadonlySet<string>
  #weight = 0
  #textBytes = 0

  constructor(aggregate: CompiledAggregate, options: TotalsOptions) {
    this.#aggregate = aggregate
    this.#options = options
    const extreme = aggregate.ops.filter(({ op }) => op === 'min' || op === 'max')
    this.#extremeFields = new Set(extreme.map(({ field }) => field))
  }

  /** The approximate number of values in memory. */
  get weight(): number {
    return this.#weight
  }

  /** The approximate size of the rows as JSON, removed groups included. */
  get textBytes(): number {
    return this.#textBytes
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
    return this.#rowOf(this.#groups.get(name) ?? { name, count: 0, fields: [] })
  }

  /** The rows of these groups, in the order of answers. */
  rows(names: Iterable<string>): RtdbGroup[] {
    return [...names].map((name) => this.row(name)).sort(compareRows)
  }

  /** All rows, in the order of answers. Documents that come or go meanwhile may be in them. */
  async allRows(turns = new EventLoopTurns()): Promise<RtdbGroup[]> {
    const rows: RtdbGroup[] = []
    for (const group of this.#groups.values()) {
      rows.push(this.#rowOf(group))
      if (turns.isOver) await turns.giveWay()
    }
    return sortInTurns(rows, compareRows, turns)
  }

  #rowOf({ name, count, fields }: Group): RtdbGroup {
    const row = plainObject({ group: name, count })
    for (const { op, field } of count > 0 ? this.#aggregate.ops : []) {
      const total = fields[this.#aggregate.fields.indexOf(field)]
      const value = total && totalOf(op, total)
      if (value !== undefined) row[`${op}_${field}`] = value
    }
    return row as RtdbGroup
  }

  #open(name: string): Group {
    const fields = this.#aggregate.fields.map((field) => ({
      count: 0,
      sum: new ExactSum(),
      extremes: this.#extremeFields.has(field) ? this.#newExtremes() : undefined,
    }))
    const group: Group = { name, count: 0, fields }
    this.#groups.set(name, group)
    this.#weight += 1
    // A name and a number for each operation.
    this.#textBytes += this.#aggregate.ops.reduce(
      (sum, { field }) => sum + field.length + 24,
      name.length + 32,
    )
    return group
  }

  #newExtremes(): Extremes<number> | RunningExtremes {
    return this.#options.canRemove ? new Extremes<number>((a, b) => a - b, String) : new RunningExtremes()
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

function compareRows(a: RtdbGroup, b: RtdbGroup): number {
  return b.count - a.count || compareTexts(a.group, b.group)
}
