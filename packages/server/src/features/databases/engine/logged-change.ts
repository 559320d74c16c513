import type { DocumentChange } from './database.ts'
import { isSameValue, type JsonObject, memberOf, plainObject, type ReadDocument } from './values.ts'

/** A change as it is kept: of what was before only the fields that differ. */
export interface LoggedChange {
  readonly action: DocumentChange['action']
  readonly path: string
  readonly keys: readonly string[]
  readonly was?: JsonObject
  readonly after?: ReadDocument
}

/** The text of a `LoggedChange`. `afterText` is that of the document without its id, which exists already. */
export function loggedText(change: DocumentChange, afterText: string | undefined): string {
  const { action, path, keys, before, after } = change
  const was = before && (after ? fieldsOf(before, keys) : before)
  const head = JSON.stringify({ action, path, keys, ...(was && { was }) })
  if (!after || afterText === undefined) return head
  const members = afterText === '{}' ? '}' : `,${afterText.slice(1)}`
  return `${head.slice(0, -1)},"after":{"id":${JSON.stringify(after.id)}${members}}`
}

function fieldsOf(document: JsonObject, names: readonly string[]): JsonObject {
  const fields = plainObject()
  for (const name of names) if (Object.hasOwn(document, name)) fields[name] = document[name]
  return fields
}

export function documentChange({ action, path, keys, was, after }: LoggedChange): DocumentChange {
  if (!after) return { action, path, keys, ...(was ? { before: was as ReadDocument } : {}) }
  if (!was) return { action, path, keys, after }
  const before = plainObject({ id: after.id })
  const changed = new Set(keys)
  for (const key of Object.keys(after)) if (!changed.has(key)) before[key] = after[key]
  for (const key of Object.keys(was)) before[key] = was[key]
  return { action, path, keys, before: before as ReadDocument, after }
}

/** The top-level fields that two states of a document differ in, without `id`. */
export function changedKeys(before: JsonObject, after: JsonObject): string[] {
  const isChanged = (name: string) =>
    name !== 'id' && !isSameValue(memberOf(before, name), memberOf(after, name))
  const changed = Object.keys(before).filter(isChanged)
  for (const name of Object.keys(after)) if (!Object.hasOwn(before, name) && name !== 'id') changed.push(name)
  return changed
}
