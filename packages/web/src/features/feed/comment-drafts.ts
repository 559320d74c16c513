import { createStore, type Store } from '#lib/store.ts'
import { readDevice, removeDevice, writeDevice } from '#platform/device-storage.ts'

// By what they answer. Bound: the posts and comments that this tab has shown.
const drafts = new Map<string, Store<string>>()

/** What was written in answer to something and not sent, also on a former visit. */
export function draftOf(parentId: string): Store<string> {
  const text = readDevice(`comment:${parentId}`)
  const known = drafts.get(parentId) ?? createStore(typeof text === 'string' ? text : '')
  drafts.set(parentId, known)
  return known
}

export function keepDraft(parentId: string, text: string): void {
  draftOf(parentId).set(text)
  if (text === '') removeDevice(`comment:${parentId}`)
  else writeDevice(`comment:${parentId}`, text)
}

export const maxCommentLength = 10_000

/** The length of a text as the server counts it: in code points. */
export function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length += 1
  return length
}
