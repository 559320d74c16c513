import { canonicalText, compareTexts, compareValues, valueKind } from '@kith/protocol'

// A text that begins with this stands for an array, an object, or a text that begins with it itself.
const marker = '\u0001'

/** What stands for a value as a member of a Set or a key of a Map: the same for equal values and for no others
 * (docs/protocol/realtime.md, Order and equality). */
export function identityOf(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(marker) ? marker + JSON.stringify(value) : value
  return typeof value === 'object' && value !== null ? marker + canonicalText(value) : value
}

/** The identities of the values of a few documents, each made once however many filters ask. Bound: what those documents
 * have, for as long as they are looked at. */
export class ValueIdentities {
  #ofObjects: Map<object, string> | undefined
  #ofElements: Map<readonly unknown[], ReadonlySet<unknown>> | undefined

  of(value: unknown): unknown {
    return typeof value === 'object' && value !== null ? marker + this.text(value) : identityOf(value)
  }

  /** The canonical text of an array or an object. */
  text(value: object): string {
    this.#ofObjects ??= new Map()
    const known = this.#ofObjects.get(value)
    if (known !== undefined) return known
    const made = canonicalText(value)
    this.#ofObjects.set(value, made)
    return made
  }

  elements(array: readonly unknown[]): ReadonlySet<unknown> {
    this.#ofElements ??= new Map()
    const known = this.#ofElements.get(array)
    if (known) return known
    const made = new Set(array.map(identityOf))
    this.#ofElements.set(array, made)
    return made
  }

  /** As `compareValues`. */
  compare(value: unknown, operand: unknown): number {
    const isObject = typeof value === 'object' && value !== null
    if (!isObject || valueKind(value) !== valueKind(operand)) return compareValues(value, operand)
    return compareTexts(this.text(value), this.text(operand as object))
  }
}
