import * as encoding from 'lib0/encoding'
import { afterEach, expect, test, vi } from 'vitest'
import * as Y from 'yjs'
import { DocumentEngine } from './document-engine.ts'
import { neededVector } from './needed-vector.ts'

afterEach(() => vi.restoreAllMocks())

/** A state vector with these clients, and as many others as asked for. */
function vector(known: readonly (readonly [number, number])[], others: number): Uint8Array {
  const encoder = encoding.createEncoder()
  const strangers = Array.from({ length: others }, (_, at) => [3_000_000_000 + at * 7, 1] as const)
  encoding.writeVarUint(encoder, known.length + others)
  for (const entry of [...strangers, ...known])
    for (const number of entry) encoding.writeVarUint(encoder, number)
  return encoding.toUint8Array(encoder)
}

function update(client: number, ...letters: string[]): Uint8Array[] {
  const doc = new Y.Doc()
  doc.clientID = client
  const updates: Uint8Array[] = []
  doc.on('update', (bytes: Uint8Array) => updates.push(bytes))
  for (const letter of letters) doc.getText('t').insert(0, letter)
  return updates
}

test('of a state vector only what names clients of the document is needed', () => {
  const doc = new Y.Doc()
  const [, missingFirst, missingSecond] = update(3, 'x', 'y', 'z')
  for (const bytes of [...update(1, 'a', 'b'), ...update(2, 'c'), missingFirst, missingSecond])
    if (bytes) Y.applyUpdate(doc, bytes)
  expect(doc.store.pendingStructs).not.toBeNull()
  const vectors = [
    [],
    [[1, 1]],
    [
      [1, 2],
      [2, 9],
    ],
    [
      [1, 1],
      [1, 2],
    ],
    [[3, 2]],
    [
      [1, 2],
      [2, 1],
      [3, 3],
    ],
  ] as const
  for (const known of vectors) {
    expect(neededVector(doc, vector(known, 1000))).toEqual(vector(known, 0))
    const asked = vector(known, 1000)
    expect(Y.encodeStateAsUpdate(doc, neededVector(doc, asked))).toEqual(Y.encodeStateAsUpdate(doc, asked))
  }
  expect(() => neededVector(doc, Uint8Array.of(5))).toThrow()
})

test('a state vector of very many clients costs a small document little', () => {
  const engine = new DocumentEngine()
  const [piece = new Uint8Array()] = update(1, 'a')
  engine.answer({ kind: 'open', doc: 1, pieces: [piece] })
  const asked = vector([], 20_000)
  const entries = vi.spyOn(Map.prototype, 'set')
  expect(engine.answer({ kind: 'diff', doc: 1, stateVector: asked })).toEqual([piece])
  expect(entries.mock.calls.length).toBeLessThan(100)
})
