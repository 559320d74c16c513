import type { DocumentChange } from '../engine/database.ts'
import { type CompiledFilter, compileFilter } from '../engine/filter.ts'
import { type ChangeTexts, type Selection, selectionOf } from './change-texts.ts'
import type { Subscription } from './subscription.ts'
import type { FirstState, View, ViewSpec } from './view.ts'

/** Documents that meet a filter. It keeps none of them: what a change means is seen from the document before and after. */
export class DocumentView implements View {
  readonly spec: ViewSpec
  readonly subscriptions = new Set<Subscription>()
  readonly #read: (spec: ViewSpec) => Promise<FirstState>
  readonly #matches: CompiledFilter
  readonly #selection: Selection | undefined

  constructor(spec: ViewSpec, read: (spec: ViewSpec) => Promise<FirstState>) {
    this.spec = spec
    this.#read = read
    this.#matches = compileFilter(spec.filter)
    this.#selection = selectionOf(spec.select)
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

  begin(): Promise<FirstState> {
    return this.#read(this.spec)
  }

  /** The event that a change is for this view; undefined when it is none. */
  eventOf(texts: ChangeTexts): string | undefined {
    const action = this.#actionOf(texts)
    return action && texts.of(action, this.#selection)
  }

  #actionOf(texts: ChangeTexts): DocumentChange['action'] | undefined {
    const { action, before, after } = texts.change
    const was = before !== undefined && this.#matches(before, texts.identities)
    const is = after !== undefined && this.#matches(after, texts.identities)
    if (!is) return was ? 'delete' : undefined
    if (!was) return action === 'create' ? 'create' : 'update'
    return !this.#selection || texts.touches(this.#selection) ? 'update' : undefined
  }
}
