import type { RtdbFilter } from '@kith/protocol'
import type { ValueIdentities } from '../engine/value-identities.ts'
import { type Condition, conditionsOf } from './conditions.ts'

type Fields = Readonly<Record<string, unknown>>
/** By the identity of a value. */
type Buckets<Listener> = Map<unknown, Set<Listener>>

interface FieldBuckets<Listener> {
  readonly value: Buckets<Listener>
  readonly element: Buckets<Listener>
}

// To list the fields of a document takes longer than to look for so many.
const fewFields = 64

/** Listeners of one place by a value that their filter asks for. Bound: the subscriptions that may be open. */
export class ConditionSet<Listener extends { readonly filter: RtdbFilter | undefined }> {
  readonly #unconditional = new Set<Listener>()
  readonly #fields = new Map<string, FieldBuckets<Listener>>()
  readonly #conditions = new Map<Listener, Condition>()

  get isEmpty(): boolean {
    return this.#unconditional.size === 0 && this.#conditions.size === 0
  }

  /** All listeners, whatever they ask for. */
  *all(): Iterable<Listener> {
    yield* this.#unconditional
    yield* this.#conditions.keys()
  }

  add(listener: Listener): void {
    const condition = this.#rarest(conditionsOf(listener.filter))
    if (!condition) {
      this.#unconditional.add(listener)
      return
    }
    this.#conditions.set(listener, condition)
    const { field, of, keys } = condition
    const buckets = this.#fields.get(field) ?? { value: new Map(), element: new Map() }
    this.#fields.set(field, buckets)
    for (const key of keys) {
      const bucket = buckets[of].get(key)
      if (bucket) bucket.add(listener)
      else buckets[of].set(key, new Set([listener]))
    }
  }

  remove(listener: Listener): void {
    const condition = this.#conditions.get(listener)
    this.#unconditional.delete(listener)
    this.#conditions.delete(listener)
    const buckets = condition && this.#fields.get(condition.field)
    if (!buckets) return
    for (const key of condition.keys) {
      const bucket = buckets[condition.of].get(key)
      bucket?.delete(listener)
      if (bucket?.size === 0) buckets[condition.of].delete(key)
    }
    if (buckets.value.size === 0 && buckets.element.size === 0) this.#fields.delete(condition.field)
  }

  /** Adds those whose filter the document may meet. */
  collect(document: Fields, identities: ValueIdentities, into: Set<Listener>): void {
    for (const listener of this.#unconditional) into.add(listener)
    if (this.#fields.size === 0) return
    for (const field of this.#askedFields(document)) {
      const buckets = this.#fields.get(field)
      if (!buckets || !Object.hasOwn(document, field)) continue
      const value = document[field]
      if (buckets.value.size > 0) addAll(buckets.value.get(identities.of(value)), into)
      if (buckets.element.size > 0 && Array.isArray(value))
        addThoseOf(buckets.element, identities.elements(value), into)
    }
  }

  /** The shorter of two lists: a document may have many fields, and so may filters. */
  #askedFields(document: Fields): Iterable<string> {
    if (this.#fields.size <= fewFields) return this.#fields.keys()
    const fields = Object.keys(document)
    return fields.length < this.#fields.size ? fields : this.#fields.keys()
  }

  #rarest(conditions: readonly Condition[]): Condition | undefined {
    let rarest: { condition: Condition; size: number } | undefined
    for (const condition of conditions) {
      const size = this.#sizeOf(condition)
      if (!rarest || size < rarest.size) rarest = { condition, size }
    }
    return rarest?.condition
  }

  #sizeOf({ field, of, keys }: Condition): number {
    const buckets = this.#fields.get(field)?.[of]
    return keys.reduce<number>((size, key) => size + (buckets?.get(key)?.size ?? 0), 0)
  }
}

function addAll<Item>(items: Iterable<Item> | undefined, into: Set<Item>): void {
  for (const item of items ?? []) into.add(item)
}

/** Looks through the smaller of the two. */
function addThoseOf<Item>(buckets: Buckets<Item>, elements: ReadonlySet<unknown>, into: Set<Item>): void {
  if (elements.size < buckets.size) for (const element of elements) addAll(buckets.get(element), into)
  else for (const [element, items] of buckets) if (elements.has(element)) addAll(items, into)
}
