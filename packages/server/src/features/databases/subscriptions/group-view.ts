import type { RtdbGroup } from '@kith/protocol'
import { type CompiledAggregate, groupsOf } from '../engine/aggregate.ts'
import type { DocumentChange } from '../engine/database.ts'
import { type CompiledFilter, compileFilter } from '../engine/filter.ts'
import { RtdbFailure } from '../engine/rtdb-failure.ts'
import type { JsonObject } from '../engine/values.ts'
import { GroupTotals } from './group-totals.ts'
import type { Subscription } from './subscription.ts'
import type { FirstState, View, ViewSpec } from './view.ts'

/** The documents that an aggregate is over, as they were at `seq`, with the fields that it needs. */
export interface Aggregated {
  readonly seq: number
  readonly documents: readonly JsonObject[]
}

export interface GroupViewDeps {
  readonly aggregate: CompiledAggregate
  read(spec: ViewSpec): Promise<Aggregated>
  /** Whether the process may keep so many values more for aggregates; negative when they go. */
  takeWeight(values: number): boolean
}

interface Noted {
  readonly seq: number
  readonly change: DocumentChange
}

// Changes while the documents are read. With more of them the clients start anew.
const maxWaiting = 10_000

/** Rows of an aggregate, kept by what changes and never worked out over all documents again. */
export class GroupView implements View {
  readonly spec: ViewSpec
  readonly subscriptions = new Set<Subscription>()
  readonly #deps: GroupViewDeps
  readonly #matches: CompiledFilter
  readonly #totals: GroupTotals
  /** The rows that this transaction touches, as they were before it. */
  readonly #before = new Map<string, string>()
  #waiting: Noted[] = []
  #seq: number | undefined
  #loading: Promise<void> | undefined
  #weight = 0
  /** More was written while the documents were read than could be kept. */
  #isLost = false

  constructor(spec: ViewSpec, deps: GroupViewDeps) {
    this.spec = spec
    this.#deps = deps
    this.#matches = compileFilter(spec.filter)
    this.#totals = new GroupTotals(deps.aggregate)
  }

  get path() {
    return this.spec.path
  }

  get scope() {
    return this.spec.scope
  }

  get filter() {
    return this.spec.filter
  }

  async begin(): Promise<FirstState> {
    this.#loading ??= this.#load()
    await this.#loading
    return { seq: this.#seq ?? 0, data: this.#totals.rows() }
  }

  note(change: DocumentChange, seq: number): void {
    if (this.#isLost) return
    if (this.#seq === undefined) {
      this.#waiting.push({ seq, change })
      if (this.#waiting.length > maxWaiting) this.#overload()
      return
    }
    if (seq <= this.#seq) return
    const before = this.#counted(change.before)
    const after = this.#counted(change.after)
    if (before) this.#remember(before)
    if (after) this.#remember(after)
    if (before) this.#totals.remove(before)
    if (after) this.#totals.add(after)
  }

  finish(seq: number): void {
    if (this.#seq === undefined || seq <= this.#seq) return
    this.#seq = seq
    const rows = this.#changedRows()
    this.#weigh()
    if (rows.length === 0) return
    const event = JSON.stringify({ action: 'update', path: this.path, data: rows })
    for (const subscription of this.subscriptions) subscription.tell(seq, event)
  }

  /** Nobody looks at it any more. */
  close(): void {
    this.#deps.takeWeight(-this.#weight)
    this.#weight = 0
  }

  async #load(): Promise<void> {
    const { seq, documents } = await this.#deps.read(this.spec)
    if (this.#isLost) throw tooMuch()
    for (const document of documents) this.#totals.add(document)
    if (!this.#weigh()) throw tooMuch()
    this.#seq = seq
    const waiting = this.#waiting
    this.#waiting = []
    for (const [index, noted] of waiting.entries()) {
      this.note(noted.change, noted.seq)
      if (waiting[index + 1]?.seq !== noted.seq) this.finish(noted.seq)
    }
  }

  #counted(document: JsonObject | undefined): JsonObject | undefined {
    return document && this.#matches(document) ? document : undefined
  }

  #remember(document: JsonObject): void {
    for (const group of groupsOf(this.#deps.aggregate.groupBy, document))
      if (!this.#before.has(group)) this.#before.set(group, JSON.stringify(this.#totals.row(group)))
  }

  #changedRows(): RtdbGroup[] {
    const changed = [...this.#before]
      .filter(([group, before]) => JSON.stringify(this.#totals.row(group)) !== before)
      .map(([group]) => group)
    this.#before.clear()
    return this.#totals.rows(changed)
  }

  #weigh(): boolean {
    const more = this.#totals.weight - this.#weight
    this.#weight = this.#totals.weight
    return this.#deps.takeWeight(more)
  }

  #overload(): void {
    this.#isLost = true
    this.#waiting = []
    for (const { listening } of this.subscriptions) listening.overload()
  }
}

function tooMuch(): RtdbFailure {
  return new RtdbFailure(429, 'too much is aggregated at once: try again later')
}
