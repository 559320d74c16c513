import type { DocumentChange } from '../engine/database.ts'
import { type CompiledFilter, compileFilter } from '../engine/filter.ts'
import type { ChangeTexts } from './change-texts.ts'
import type { Subscription } from './subscription.ts'
import type { FirstState, View, ViewSpec } from './view.ts'

/** Documents that meet a filter. It keeps none of them: what a change means is seen from the document before and after. */
export class DocumentView implements View {
  readonly spec: ViewSpec
  readonly subscriptions = new Set<Subscription>()
  readonly #read: (spec: ViewSpec) => Promise<FirstState>
  readonly #matches: CompiledFilter
  readonly #selected: ReadonlySet<string> | undefined

  constructor(spec: ViewSpec, read: (spec: ViewSpec) => Promise<FirstState>) {
    this.spec = spec
    this.#read = read
    this.#matches = compileFilter(spec.filter)
    this.#selected = spec.select && new Set(spec.select)
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

  note(change: DocumentChange, seq: number, texts: ChangeTexts): void {
    const action = this.#actionOf(change)
    if (!action) return
    const event = texts.of(action, this.spec.select)
    for (const subscription of this.subscriptions) subscription.tell(seq, event)
  }

  /** Does the view show the document? */
  shows(document: Readonly<Record<string, unknown>>): boolean {
    return this.#matches(document)
  }

  #actionOf({ action, before, after, keys }: DocumentChange): DocumentChange['action'] | undefined {
    const was = before !== undefined && this.#matches(before)
    const is = after !== undefined && this.#matches(after)
    if (!is) return was ? 'delete' : undefined
    if (!was) return action === 'create' ? 'create' : 'update'
    const isSeen = !this.#selected || keys.some((key) => this.#selected?.has(key))
    return isSeen ? 'update' : undefined
  }
}
