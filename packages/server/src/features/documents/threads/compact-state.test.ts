import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { compactState } from './compact-state.ts'

function written(): Y.Doc {
  const doc = new Y.Doc()
  doc.getText('t').insert(0, 'hello')
  doc.getText('t').delete(1, 2)
  doc.getMap('m').set('nested', new Y.Array())
  return doc
}

test('a state that is the document is sound, also with what waits for its predecessors', () => {
  const doc = written()
  const other = new Y.Doc()
  other.getText('t').insert(0, 'a')
  const vector = Y.encodeStateVector(other)
  other.getText('t').insert(0, 'b')
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(other, vector))
  expect(doc.store.pendingStructs).not.toBeNull()
  const { state, isSound } = compactState(doc)
  expect([state, isSound]).toEqual([Y.encodeStateAsUpdate(doc), true])
})

test('a state that is another document, or none, is not sound', () => {
  for (const letters of ['', 'hello, and more']) {
    const doc = written()
    const [item] = doc.store.clients.get(doc.clientID) ?? []
    // As if memory had changed under it.
    if (item instanceof Y.Item) item.content = new Y.ContentString(letters)
    expect(compactState(doc).isSound).toBe(false)
  }
})
