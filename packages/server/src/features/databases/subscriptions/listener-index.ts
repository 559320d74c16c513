import type { RtdbFilter } from '@kith/protocol'
import { ValueIdentities } from '../engine/value-identities.ts'
import { ConditionSet } from './condition-set.ts'

/** Which documents below its path a listener hears of: all of them, those directly there, or the one at the path. */
export type Scope = 'subtree' | 'children' | 'document'

/** Documents at a place that meet a filter. */
export interface Interest {
  readonly path: string
  readonly scope: Scope
  readonly filter: RtdbFilter | undefined
}

type Fields = Readonly<Record<string, unknown>>

class Place<Listener extends Interest> {
  readonly at = new ConditionSet<Listener>()
  readonly directlyBelow = new ConditionSet<Listener>()
  readonly below = new ConditionSet<Listener>()

  get isEmpty(): boolean {
    return this.at.isEmpty && this.directlyBelow.isEmpty && this.below.isEmpty
  }

  sets(scope: Scope): readonly ConditionSet<Listener>[] {
    if (scope === 'subtree') return [this.at, this.below]
    return scope === 'children' ? [this.directlyBelow] : [this.at]
  }
}

/** Finds the listeners that a change concerns without a look at the others. Bound: the subscriptions that may be open. */
export class ListenerIndex<Listener extends Interest> {
  readonly #places = new Map<string, Place<Listener>>()

  get isEmpty(): boolean {
    return this.#places.size === 0
  }

  add(listener: Listener): void {
    const place = this.#places.get(listener.path) ?? new Place<Listener>()
    this.#places.set(listener.path, place)
    for (const set of place.sets(listener.scope)) set.add(listener)
  }

  remove(listener: Listener): void {
    const place = this.#places.get(listener.path)
    if (!place) return
    for (const set of place.sets(listener.scope)) set.remove(listener)
    if (place.isEmpty) this.#places.delete(listener.path)
  }

  /** Those whose filter a document at this path may meet, in one of these states. */
  concerned(
    path: string,
    states: readonly (Fields | undefined)[],
    identities = new ValueIdentities(),
  ): Set<Listener> {
    const found = new Set<Listener>()
    for (const set of this.#setsFor(path))
      for (const state of states) if (state) set.collect(state, identities, found)
    return found
  }

  /** Those whose scope covers this path, whatever their filter. Like `covers`, for all of them. */
  covering(path: string): Listener[] {
    const sets = [this.#places.get(path)?.directlyBelow, ...this.#setsFor(path)]
    return sets.flatMap((set) => (set ? [...set.all()] : []))
  }

  *#setsFor(path: string): Iterable<ConditionSet<Listener>> {
    const here = this.#places.get(path)
    if (here) yield here.at
    const parent = parentOf(path)
    for (let above = parent; above !== undefined; above = parentOf(above)) {
      const place = this.#places.get(above)
      if (!place) continue
      if (above === parent) yield place.directlyBelow
      yield place.below
    }
  }
}

/** Does it cover this path: its own, or what its scope has below it? */
export function covers({ path, scope }: Pick<Interest, 'path' | 'scope'>, at: string): boolean {
  if (at === path) return true
  if (scope === 'children') return parentOf(at) === path
  return scope === 'subtree' && (path === '' || at.startsWith(`${path}/`))
}

/** The path that a path is directly below; the root is the empty path. */
function parentOf(path: string): string | undefined {
  if (path === '') return undefined
  const slash = path.lastIndexOf('/')
  return slash < 0 ? '' : path.slice(0, slash)
}
