import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { runsOf } from '#harness/property-runs.ts'
import { splitUpdate } from './split-update.ts'

/** A document that several clients have written, each knowing what those before it have. */
function written(edits: readonly { client: number; at: number; kind: number; text: string }[]): Y.Doc {
  const docs = [1, 2, 3].map((clientID) => Object.assign(new Y.Doc(), { clientID }))
  for (const { client, at, kind, text } of edits) {
    const doc = docs[client % docs.length]!
    for (const other of docs) Y.applyUpdate(doc, Y.encodeStateAsUpdate(other, Y.encodeStateVector(doc)))
    const body = doc.getText('text')
    if (kind === 0) body.insert(at % (body.length + 1), text)
    else if (kind === 1 && body.length > 0) body.delete(at % body.length, 1)
    else if (kind === 2) doc.getMap('map').set(text, new Y.Array())
    else doc.getArray('list').push([{ at, text }])
  }
  const last = new Y.Doc()
  for (const doc of docs) Y.applyUpdate(last, Y.encodeStateAsUpdate(doc))
  return last
}

const contentOf = (doc: Y.Doc) => [
  doc.getText('text').toString(),
  doc.getMap('map').toJSON(),
  doc.getArray('list').toJSON(),
]

const someEdits = fc.array(
  fc.record({
    client: fc.nat(2),
    at: fc.nat(500),
    kind: fc.nat(3),
    text: fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
  }),
  { minLength: 1, maxLength: 60 },
)

test('the pieces of an update make the same document, in whatever order they come', () => {
  fc.assert(
    fc.property(
      someEdits,
      fc.integer({ min: 1, max: 300 }),
      fc.boolean(),
      (edits, pieceBytes, isReversed) => {
        const doc = written(edits)
        const update = Y.encodeStateAsUpdate(doc)
        const pieces = splitUpdate(update, pieceBytes)
        const copy = new Y.Doc()
        for (const piece of isReversed ? pieces.toReversed() : pieces) Y.applyUpdate(copy, piece)
        expect(contentOf(copy)).toEqual(contentOf(doc))
        expect(Y.encodeStateVector(copy)).toEqual(Y.encodeStateVector(doc))
        expect(Y.equalSnapshots(Y.snapshot(copy), Y.snapshot(doc))).toBe(true)
      },
    ),
    { numRuns: runsOf(100), verbose: true },
  )
})

test('a piece has many small insertions of one client', () => {
  const doc = new Y.Doc()
  const map = doc.getMap('map')
  for (let at = 0; at < 25_000; at += 1) map.set(String(at), at)
  const update = Y.encodeStateAsUpdate(doc)
  const copy = new Y.Doc()
  for (const piece of splitUpdate(update, update.length - 1)) Y.applyUpdate(copy, piece)
  expect(copy.getMap('map').size).toBe(25_000)
})

test('pieces are as small as the insertions let them be', () => {
  const doc = new Y.Doc()
  const text = doc.getText('text')
  for (let at = 0; at < 1000; at += 1) text.insert(Math.floor(text.length / 2), `${at} `)
  const update = Y.encodeStateAsUpdate(doc)
  const sizes = splitUpdate(update, 1000).map(({ length }) => length)
  expect(sizes.length).toBeGreaterThan(update.length / 1200)
  expect(Math.max(...sizes)).toBeLessThan(1100)
  expect(splitUpdate(update, update.length)).toEqual([update])
})

test('what waits for its predecessors goes along', () => {
  const [first, second] = [new Y.Doc(), new Y.Doc()]
  first.getText('text').insert(0, 'a'.repeat(100))
  Y.applyUpdate(second, Y.encodeStateAsUpdate(first))
  const before = Y.encodeStateVector(second)
  second.getText('text').insert(50, 'b'.repeat(100))
  const lonely = new Y.Doc()
  Y.applyUpdate(lonely, Y.encodeStateAsUpdate(second, before))
  const copy = new Y.Doc()
  for (const piece of splitUpdate(Y.encodeStateAsUpdate(lonely), 20)) Y.applyUpdate(copy, piece)
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(first))
  expect(copy.getText('text').toString()).toBe(second.getText('text').toString())
})
