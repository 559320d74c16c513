import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { runsOf } from '#harness/property-runs.ts'
import { firstUpdate } from '../log/first-update.ts'
import { DocumentEngine } from './document-engine.ts'
import type { Applied } from './worker-messages.ts'

const plenty = Number.MAX_SAFE_INTEGER

function open(...pieces: Uint8Array[]) {
  const engine = new DocumentEngine()
  const opened = engine.answer({ kind: 'open', doc: 1, pieces })
  const apply = (updates: readonly Uint8Array[], room = plenty) =>
    engine.answer({ kind: 'apply', doc: 1, updates, room }) as Applied
  const state = () => {
    const doc = new Y.Doc()
    Y.applyUpdate(doc, engine.answer({ kind: 'state', doc: 1 }) as Uint8Array)
    return doc
  }
  return { engine, opened, apply, state }
}

/** The updates of a text that is typed letter by letter. */
function typed(text: string): Uint8Array[] {
  const doc = new Y.Doc()
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  for (const letter of text) doc.getText('t').insert(doc.getText('t').length, letter)
  return updates
}

test('a document begins with a map that says it is there', () => {
  const { opened, state } = open(firstUpdate)
  expect(opened).toEqual({ damaged: [] })
  expect(state().getMap('meta').toJSON()).toEqual({ i: true })
})

describe('an update', () => {
  test('with values that no stack can be trusted to go down into is malformed', () => {
    const nested = (levels: number): unknown => (levels === 0 ? 0 : [nested(levels - 1)])
    const update = (value: unknown) => {
      const doc = new Y.Doc()
      doc.getMap('m').set('k', value)
      return Y.encodeStateAsUpdate(doc)
    }
    const { apply } = open(firstUpdate)
    expect(apply([update(nested(99)), update(nested(100)), update({ a: [nested(500)] })]).outcomes).toEqual([
      'new',
      'malformed',
      'malformed',
    ])
  })

  test('is new once', () => {
    const { apply, state } = open()
    const [first, second] = typed('ab') as [Uint8Array, Uint8Array]
    expect(apply([first])).toEqual({ outcomes: ['new'], merged: first, brokenAt: undefined })
    expect(apply([first])).toEqual({ outcomes: ['known'], merged: undefined, brokenAt: undefined })
    expect(apply([first, second, second]).outcomes).toEqual(['known', 'new', 'known'])
    expect(state().getText('t').toString()).toBe('ab')
  })

  test('with nothing in it is known', () => {
    expect(open().apply([Uint8Array.of(0, 0)]).outcomes).toEqual(['known'])
  })

  test('that deletes what is deleted already is known', () => {
    const doc = new Y.Doc()
    doc.getText('t').insert(0, 'ab')
    const before = Y.encodeStateVector(doc)
    const whole = Y.encodeStateAsUpdate(doc)
    doc.getText('t').delete(0, 1)
    const deletion = Y.encodeStateAsUpdate(doc, before)
    const { apply } = open()
    expect(apply([whole, deletion, deletion]).outcomes).toEqual(['new', 'new', 'known'])
  })

  test('whose predecessors are missing is new, once, and takes effect with them', () => {
    const { apply, state } = open()
    const [first, second, third] = typed('abc') as [Uint8Array, Uint8Array, Uint8Array]
    expect(apply([third, third, second]).outcomes).toEqual(['new', 'known', 'new'])
    expect(state().getText('t').toString()).toBe('')
    expect(apply([first]).outcomes).toEqual(['new'])
    expect(state().getText('t').toString()).toBe('abc')
  })

  test('that has no room is looked at for what is new in it', () => {
    const updates = typed('x'.repeat(500))
    const doc = new Y.Doc()
    for (const update of updates) Y.applyUpdate(doc, update)
    const known = Y.encodeStateAsUpdate(doc)
    doc.getText('t').insert(0, 'y')
    const more = Y.encodeStateAsUpdate(doc)
    const { apply, state } = open(known)
    expect(apply([known], 10).outcomes).toEqual(['known'])
    expect(apply([more], 10).outcomes).toEqual(['full'])
    expect(apply([more], 60).outcomes).toEqual(['new'])
    expect(state().getText('t').toString()).toMatch(/^yx/)
  })
})

describe('bytes of a stranger', () => {
  const varUint = (value: number): number[] =>
    value < 128 ? [value] : [(value % 128) | 128, ...varUint(Math.floor(value / 128))]
  /** One struct of client 7 from a clock on. */
  const struct = (clock: number, ...content: number[]) =>
    Uint8Array.of(1, 1, 7, ...varUint(clock), ...content, 0)
  const text = (...letters: number[]) => [4, 1, 1, 116, letters.length, ...letters]

  test.each<[string, Uint8Array]>([
    ['nothing', Uint8Array.of()],
    ['noise', Uint8Array.of(255, 254, 253, 12, 9, 9)],
    ['half an update', (typed('hello')[0] as Uint8Array).slice(0, 7)],
    ['more structs than there are', Uint8Array.of(1, 255, 255, 255, 15, 7, 0, 0)],
    ['more clients than there are', Uint8Array.of(255, 255, 255, 255, 15)],
    ['a struct of an unknown kind', struct(0, 31, 1, 1, 116)],
    ['a struct without length', struct(0, 0, 0)],
    ['a text without letters', struct(0, ...text())],
    ['a skip of nothing', struct(0, 10, 0)],
    ['a clock at the end of all numbers', struct(Number.MAX_SAFE_INTEGER, ...text(97))],
    ['a number that is none', Uint8Array.of(...Array(12).fill(255), 0)],
    [
      'a deletion at the end of all numbers',
      Uint8Array.of(0, 1, 7, 1, ...varUint(Number.MAX_SAFE_INTEGER), 5),
    ],
    ['JSON that is none', struct(0, 5, 1, 1, 116, 1, 120)],
  ])('%s is malformed, and changes nothing', (_, update) => {
    const { apply, state } = open(firstUpdate)
    expect(apply([update, ...typed('a')])).toMatchObject({
      outcomes: ['malformed', 'new'],
      brokenAt: undefined,
    })
    expect(state().getText('t').toString()).toBe('a')
  })

  test('a struct that follows itself breaks no document for long', () => {
    // Its origin is a clock of its own client that is not there yet.
    const update = struct(0, 132, 7, 5, 1, 97)
    const { apply, engine } = open(firstUpdate)
    const { outcomes, brokenAt } = apply([update])
    if (brokenAt === undefined) expect(outcomes).toHaveLength(1)
    const opened = engine.answer({ kind: 'open', doc: 1, pieces: [firstUpdate, update] })
    expect(opened).toEqual({ damaged: brokenAt === undefined ? [] : [1] })
  })

  test('a state vector that is none is no question', () => {
    const { engine } = open(firstUpdate)
    const ask = (...bytes: number[]) =>
      engine.answer({ kind: 'diff', doc: 1, stateVector: Uint8Array.of(...bytes) })
    expect([ask(), ask(5), ask(255, 255, 255)]).toEqual([undefined, undefined, undefined])
    expect(ask(0)).toEqual([expect.any(Uint8Array)])
  })

  test('never do more than be refused', () => {
    const good = Y.mergeUpdates(typed('hello world'))
    const mutation = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(mutation, fc.nat(good.length), (changes, length) => {
        const bytes = good.slice(0, length === 0 ? good.length : length)
        for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value
        const { apply, engine } = open(firstUpdate)
        const { outcomes, merged, brokenAt } = apply([bytes])
        expect(brokenAt === undefined ? outcomes.length : outcomes.length + 1).toBe(1)
        // What was taken can be read again.
        if (merged)
          expect(engine.answer({ kind: 'open', doc: 2, pieces: [firstUpdate, merged] })).toEqual({
            damaged: [],
          })
      }),
      { numRuns: runsOf(500), verbose: true },
    )
  })
})

describe('restoring', () => {
  test('makes everything what it was, as a change on top', () => {
    const doc = new Y.Doc()
    const list = doc.getArray('list')
    const map = doc.getMap('map')
    const text = doc.getText('text')
    const xml = doc.getXmlFragment('xml')
    text.insert(0, 'hello', { bold: true })
    list.push([1, 'two', { three: 3 }])
    map.set('kept', 'before')
    map.set('nested', new Y.Map([['deep', new Y.Array()]]))
    xml.insert(0, [new Y.XmlElement('p')])
    const past = Y.encodeStateAsUpdate(doc)
    const before = [text.toDelta(), list.toJSON(), map.toJSON(), xml.toString()]
    text.delete(1, 3)
    text.format(0, 1, { bold: null })
    list.delete(0, 2)
    list.push(['new'])
    map.set('kept', 'after')
    map.delete('nested')
    map.set('fresh', 1)
    xml.delete(0, 1)
    doc.getMap('unknown to the past').set('x', 1)
    const { engine, apply, state } = open(Y.encodeStateAsUpdate(doc))
    const change = engine.answer({ kind: 'restore', doc: 1, past }) as Uint8Array
    expect(apply([change]).outcomes).toEqual(['new'])
    const now = state()
    expect([
      now.getText('text').toDelta(),
      now.getArray('list').toJSON(),
      now.getMap('map').toJSON(),
      now.getXmlFragment('xml').toString(),
    ]).toEqual(before)
    expect(now.getMap('unknown to the past').toJSON()).toEqual({})
    const present = engine.answer({ kind: 'state', doc: 1 }) as Uint8Array
    expect(engine.answer({ kind: 'restore', doc: 1, past: present })).toBeUndefined()
  })
})
