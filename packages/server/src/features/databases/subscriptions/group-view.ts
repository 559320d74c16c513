import type { RtdbGroup } from '@kith/protocol'
import { EventLoopTurns } from '#lib/event-loop-turns.ts'
import { type CompiledAggregate, groupsOf } from '../engine/aggregate.ts'
import type { LoggedChanges } from '../engine/database.ts'
import { type CompiledFilter, compileFilter } from '../engine/filter.ts'
import { GroupTotals } from '../engine/group-totals.ts'
import { RtdbFailure } from '../engine/rtdb-failure.ts'
import type { JsonObject } from '../engine/values.ts'
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

// Attempts to read the first rows while others write.
const maxTries = 5
// Changes during the first read. Above the bound the clients have to reconnect.
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
  #waiting: LoggedChanges[] = []
  #waitingChanges = 0
  #seq: number | undefined
  #loading: Promise<void> | undefined
  #weight = 0
  /** The view is overloaded, or has no subscriptions left. */
  #isLost = false

  constructor(spec: ViewSpec, deps: GroupViewDeps) {
    this.spec = spec
    this.#deps = deps
    this.#matches = compileFilter(spec.filter)
    this.#totals = new GroupTotals(deps.aggregate, { canRemove: true })
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
    for (let tried = 1; ; tried += 1) {
      if (this.#isLost) throw tooMuch()
      const seq = this.#seq ?? 0
      const data = await this.#totals.allRows()
      if (seq === this.#seq) return { seq, data }
      if (tried >= maxTries) throw tooMuch()
    }
  }

  /** The event that the changes of one transaction are for this view; undefined when they are none. Nothing is awaited: who
   * begins meanwhile sees all of the transaction or nothing of it. */
  eventOf({ seq, changes }: LoggedChanges): string | undefined {
    if (this.#isLost) return undefined
    if (this.#seq === undefined) {
      this.#waiting.push({ seq, changes })
      this.#waitingChanges += changes.length
      if (this.#waitingChanges > maxWaiting) this.#overload()
      return undefined
    }
    if (seq <= this.#seq) return undefined
    this.#apply({ seq, changes })
    const rows = this.#changedRows()
    // A view beyond the bounds is closed, and its clients reconnect.
    if (!this.#weigh()) this.#overload()
    return rows.length > 0 ? JSON.stringify({ action: 'update', path: this.path, data: rows }) : undefined
  }

  /** Frees its memory, when its last subscription has ended. */
  close(): void {
    this.#isLost = true
    this.#deps.takeWeight(-this.#weight)
    this.#weight = 0
  }

  async #load(): Promise<void> {
    const { seq, documents } = await this.#deps.read(this.spec)
    await this.#addAll(documents)
    if (this.#isLost) throw tooMuch()
    this.#seq = seq
    // The subscriptions that are being started begin with the state after these changes.
    for (const logged of this.#waiting) if (logged.seq > this.#seq) this.#apply(logged)
    this.#waiting = []
    this.#before.clear()
    if (!this.#weigh()) throw tooMuch()
  }

  async #addAll(documents: readonly JsonObject[]): Promise<void> {
    const turns = new EventLoopTurns()
    for (const document of documents) {
      this.#totals.add(document)
      if (turns.isOver) await turns.giveWay()
    }
  }

  #apply({ seq, changes }: LoggedChanges): void {
    this.#seq = seq
    for (const change of changes) {
      const before = this.#counted(change.before)
      const after = this.#counted(change.after)
      if (before) this.#remember(before)
      if (after) this.#remember(after)
      if (before) this.#totals.remove(before)
      if (after) this.#totals.add(after)
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
