import type { DocumentChange } from '../engine/database.ts'
import { ValueIdentities } from '../engine/value-identities.ts'
import type { ReadDocument } from '../engine/values.ts'

/** The JSON texts of one change, each made once for all subscriptions. Bound: the document, and the projections of the views
 * that the change concerns, while it is told. */
export class ChangeTexts {
  readonly change: DocumentChange
  readonly identities = new ValueIdentities()
  readonly #events = {
    create: new Map<string, string>(),
    update: new Map<string, string>(),
    delete: new Map<string, string>(),
  }
  readonly #members = new Map<string, string>()
  #changed: ReadonlySet<string> | undefined

  constructor(change: DocumentChange) {
    this.change = change
  }

  /** Does it change one of these fields? */
  touches({ fields }: Selection): boolean {
    this.#changed ??= new Set(this.change.keys)
    const [fewer, more] = fields.size < this.#changed.size ? [fields, this.#changed] : [this.#changed, fields]
    for (const field of fewer) if (more.has(field)) return true
    return false
  }

  /** The text of a whole event, with the document as `selection` shows it. */
  of(action: DocumentChange['action'], selection: Selection | undefined): string {
    const key = action === 'delete' ? '' : (selection?.key ?? '')
    const known = this.#events[action].get(key)
    if (known !== undefined) return known
    const { path, after } = this.change
    const head = `{"action":"${action}","path":${JSON.stringify(path)}`
    const made =
      action === 'delete' || !after ? `${head}}` : `${head},"data":${this.#data(after, selection)}}`
    this.#events[action].set(key, made)
    return made
  }

  /** `id` is shown in any case. */
  #data(document: ReadDocument, selection: Selection | undefined): string {
    if (!selection) return JSON.stringify(document)
    const members: string[] = []
    for (const name of new Set(['id', ...selection.fields]))
      if (Object.hasOwn(document, name)) members.push(this.#member(name, document))
    return `{${members.join(',')}}`
  }

  #member(name: string, document: ReadDocument): string {
    const known = this.#members.get(name)
    if (known !== undefined) return known
    const made = `${JSON.stringify(name)}:${JSON.stringify(document[name])}`
    this.#members.set(name, made)
    return made
  }
}

/** The fields that a view shows. */
export interface Selection {
  readonly fields: ReadonlySet<string>
  /** The same for selections of the same fields, and never empty. */
  readonly key: string
}

export function selectionOf(select: readonly string[] | undefined): Selection | undefined {
  return select && { fields: new Set(select), key: JSON.stringify(select) }
}
