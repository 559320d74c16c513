import fc from 'fast-check'
import * as encoding from 'lib0/encoding'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { runsOf } from '#harness/property-runs.ts'
import { DocumentEngine } from './document-engine.ts'
import type { Applied, CompactState, EngineAnswers } from './worker-messages.ts'

/** A document with a content of each kind: nested types, XML, documents within, deletions and what was collected of them. */
function richDocument(client: number): Uint8Array {
  const doc = new Y.Doc()
  doc.clientID = client
  const text = doc.getText('text')
  text.insert(0, 'hello world')
  text.format(1, 3, { bold: true })
  text.insertEmbed(2, { a: 1 })
  text.delete(4, 3)
  const map = doc.getMap('map')
  map.set('a', [1, { b: 2 }])
  map.set('nested', new Y.Map([['bytes', Uint8Array.of(1, 2)]]))
  map.set('gone', new Y.Array())
  map.delete('gone')
  const paragraph = new Y.XmlElement('p')
  doc.getXmlFragment('xml').insert(0, [paragraph])
  paragraph.setAttribute('class', 'x')
  paragraph.insert(0, [new Y.XmlText('inside'), new Y.XmlHook('hook') as never])
  const list = doc.getArray('list')
  list.insert(0, [1, 'two', null, new Y.Array(), new Y.Doc(), new Y.Text('deep')])
  list.delete(1, 2)
  return Y.encodeStateAsUpdate(doc)
}

const clients = [1, 300, 4_000_000_000]
const documents = clients.map(richDocument)
const base = documents[0] as Uint8Array

/** Bytes of a good update, some of them others. */
const mutated = fc
  .tuple(
    fc.constantFrom(...documents),
    fc.array(fc.tuple(fc.nat(10_000), fc.nat(255)), { minLength: 1, maxLength: 4 }),
  )
  .map(([document, changes]) => {
    const bytes = Uint8Array.from(document)
    for (const [at, value] of changes) bytes[at % bytes.length] = value
    return bytes
  })

const id = fc.record({ client: fc.constantFrom(...clients, 7), clock: fc.nat(40) })
const struct = fc.record({
  content: fc.nat(12),
  origin: fc.option(id),
  rightOrigin: fc.option(id),
  parent: fc.oneof(fc.constantFrom('text', 'list', 'map', 'xml'), id),
  key: fc.option(fc.constantFrom('a', 'nested', 'gone', '__proto__')),
  number: fc.nat(6),
  text: fc.constantFrom('', 'x', 'p', '{}', '[[]]', 'null', '{"guid":1}', '\ud800'),
})
type Struct = typeof struct extends fc.Arbitrary<infer Value> ? Value : never

function writeId(encoder: encoding.Encoder, { client, clock }: { client: number; clock: number }): void {
  encoding.writeVarUint(encoder, client)
  encoding.writeVarUint(encoder, clock)
}

/** An item, or what is collected or skipped, with a content that may belong to another kind. */
function writeStruct(
  encoder: encoding.Encoder,
  { content, origin, rightOrigin, parent, key, ...rest }: Struct,
) {
  const { number, text } = rest
  const flags = (origin ? 0x80 : 0) | (rightOrigin ? 0x40 : 0) | (key === null ? 0 : 0x20)
  encoding.writeUint8(encoder, content | flags)
  if (content === 0 || content === 10) {
    encoding.writeVarUint(encoder, number)
    return
  }
  if (origin) writeId(encoder, origin)
  if (rightOrigin) writeId(encoder, rightOrigin)
  if (!origin && !rightOrigin) {
    encoding.writeVarUint(encoder, typeof parent === 'string' ? 1 : 0)
    if (typeof parent === 'string') encoding.writeVarString(encoder, parent)
    else writeId(encoder, parent)
    if (key !== null) encoding.writeVarString(encoder, key)
  }
  writeContent(encoder, content, number, text)
}

function writeContent(encoder: encoding.Encoder, content: number, number: number, text: string): void {
  // By the numbers of the format: deleted, JSON, binary, string, embed, format, type, any, document.
  if (content === 1) encoding.writeVarUint(encoder, number)
  if (content === 2 || content === 8) encoding.writeVarUint(encoder, number % 2)
  if (content === 3) encoding.writeVarUint8Array(encoder, new Uint8Array(number))
  if (content === 6) encoding.writeVarString(encoder, 'bold')
  if (content === 7) encoding.writeVarUint(encoder, number)
  if ([2, 4, 5, 6, 7, 9].includes(content)) encoding.writeVarString(encoder, text)
  if (content === 8 || content === 9) encoding.writeAny(encoder, number > 3 ? { text } : number)
}

/** Structs that fit together or do not, and deletions of what may be there. */
const written = fc
  .record({
    client: fc.constantFrom(...clients, 7, 8),
    clock: fc.nat(30),
    structs: fc.array(struct, { minLength: 1, maxLength: 6 }),
    deletions: fc.array(fc.record({ of: id, length: fc.nat(20) }), { maxLength: 3 }),
  })
  .map(({ client, clock, structs, deletions }) => {
    const encoder = encoding.createEncoder()
    for (const value of [1, structs.length, client, clock]) encoding.writeVarUint(encoder, value)
    for (const each of structs) writeStruct(encoder, each)
    encoding.writeVarUint(encoder, deletions.length)
    for (const { of, length } of deletions)
      for (const value of [of.client, 1, of.clock, length]) encoding.writeVarUint(encoder, value)
    return encoding.toUint8Array(encoder)
  })

/** An array in an array in an array. */
function nestedTypes(depth: number): Uint8Array {
  const doc = new Y.Doc()
  let inner: Y.Array<unknown> = doc.getArray('deep')
  for (let level = 0; level < depth; level += 1) {
    const next = new Y.Array<unknown>()
    inner.insert(0, [next])
    inner = next
  }
  return Y.encodeStateAsUpdate(doc)
}

test('types nested so deep that the library could not delete them are malformed', () => {
  const engine = new DocumentEngine()
  const outcome = (update: Uint8Array) => {
    engine.answer({ kind: 'open', doc: 1, pieces: [base] })
    return engine.answer({ kind: 'apply', doc: 1, updates: [update], room: 1e9 })
  }
  expect(outcome(nestedTypes(100))).toMatchObject({ outcomes: ['new'], brokenAt: undefined })
  expect(outcome(nestedTypes(101))).toMatchObject({ outcomes: [], brokenAt: 0 })
  expect(outcome(nestedTypes(2500))).toMatchObject({ outcomes: [], brokenAt: 0 })
})

test('no update keeps a document from being answered, opened again, compacted and restored', () => {
  const updates = fc.array(fc.oneof(mutated, written), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(updates, (sent) => {
      const engine = new DocumentEngine()
      const log: Uint8Array[] = [base]
      engine.answer({ kind: 'open', doc: 1, pieces: log })
      for (const update of sent) {
        const applied = engine.answer({ kind: 'apply', doc: 1, updates: [update], room: 1e9 }) as Applied
        if (applied.merged) log.push(applied.merged)
        if (applied.brokenAt !== undefined) engine.answer({ kind: 'open', doc: 1, pieces: log })
      }
      expect(engine.answer({ kind: 'diff', doc: 1, stateVector: Uint8Array.of(0) })).toHaveLength(1)
      expect(engine.answer({ kind: 'vector', doc: 1 })).toBeInstanceOf(Uint8Array)
      const opened = engine.answer({ kind: 'open', doc: 2, pieces: log }) as EngineAnswers['open']
      expect(opened.damaged).toEqual([])
      const { state, isSound } = engine.answer({ kind: 'compact', doc: 1 }) as CompactState
      if (isSound) expect(engine.answer({ kind: 'open', doc: 3, pieces: [state] })).toEqual({ damaged: [] })
      engine.answer({ kind: 'restore', doc: 1, past: base })
    }),
    { numRuns: runsOf(300), verbose: true },
  )
})
