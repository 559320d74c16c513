import type { DocumentChange } from '../engine/database.ts'
import { project } from '../engine/shape-documents.ts'

/** The events that one change makes, each built once for everybody who is told it. Bound: the projections of the views that
 * the change concerns, as long as it is told. */
export class ChangeTexts {
  readonly change: DocumentChange
  readonly #texts = new Map<string, string>()

  constructor(change: DocumentChange) {
    this.change = change
  }

  /** The text of a whole event, with the document as `select` shows it. */
  of(action: 'create' | 'update' | 'delete', select: readonly string[] | undefined): string {
    const key = action === 'delete' ? action : `${action} ${JSON.stringify(select)}`
    const known = this.#texts.get(key)
    if (known !== undefined) return known
    const { path, after } = this.change
    const shown = action === 'delete' || !after ? {} : { data: project(select, after) }
    const made = JSON.stringify({ action, path, ...shown })
    this.#texts.set(key, made)
    return made
  }
}
