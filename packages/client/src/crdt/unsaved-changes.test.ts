import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { UnsavedChanges } from './unsaved-changes.ts'

/** A document, and the updates that it makes. */
function recorded() {
  const doc = new Y.Doc()
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  return { text: doc.getText('t'), doc, updates, last: () => updates.at(-1) as Uint8Array }
}

test('an insertion is unsaved until it comes back', () => {
  const { text, last } = recorded()
  const unsaved = new UnsavedChanges()
  text.insert(0, 'a')
  unsaved.sent(last())
  expect(unsaved.isEmpty).toBe(false)
  unsaved.confirmed(last())
  expect(unsaved.isEmpty).toBe(true)
})

test('an echo of the first of two changes leaves the second', () => {
  const { text, updates } = recorded()
  const unsaved = new UnsavedChanges()
  text.insert(0, 'a')
  text.insert(1, 'b')
  for (const update of updates) unsaved.sent(update)
  unsaved.confirmed(updates[0] as Uint8Array)
  expect(unsaved.isEmpty).toBe(false)
  unsaved.confirmed(updates[1] as Uint8Array)
  expect(unsaved.isEmpty).toBe(true)
})

test('several changes may come back as one, with those of others', () => {
  const mine = recorded()
  const other = recorded()
  const unsaved = new UnsavedChanges()
  mine.text.insert(0, 'abcdef')
  mine.text.delete(1, 2)
  mine.text.delete(2, 1)
  other.text.insert(0, 'x')
  for (const update of mine.updates) unsaved.sent(update)
  unsaved.confirmed(other.last())
  expect(unsaved.isEmpty).toBe(false)
  unsaved.confirmed(Y.mergeUpdates([...mine.updates, ...other.updates]))
  expect(unsaved.isEmpty).toBe(true)
})

test('a deletion is unsaved until all of it came back', () => {
  const { doc, text, updates, last } = recorded()
  text.insert(0, 'abcdef')
  const unsaved = new UnsavedChanges()
  const before = updates.length
  doc.transact(() => {
    text.delete(4, 1)
    text.delete(1, 1)
  })
  unsaved.sent(last())
  const twin = new Y.Doc()
  for (const update of updates.slice(0, before)) Y.applyUpdate(twin, update)
  let half = new Uint8Array()
  twin.on('update', (update: Uint8Array) => {
    half = update as Uint8Array<ArrayBuffer>
  })
  twin.getText('t').delete(1, 1)
  unsaved.confirmed(half)
  expect(unsaved.isEmpty).toBe(false)
  unsaved.confirmed(last())
  expect(unsaved.isEmpty).toBe(true)
})
