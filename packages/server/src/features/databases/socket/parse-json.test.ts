import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runsOf } from '#harness/property-runs.ts'
import { JsonScanner } from './json-scanner.ts'
import { longObjectOf, objectOf } from './parse-json.ts'

const bounds = {
  ...{ list: 'list', elements: 50, elementCharacters: 10_000, otherCharacters: 100_000 },
  ...{ elementLevels: 10, elementValues: 1000, elementNames: 400, listValues: 1500 },
  isElement: (value: unknown) => value !== 'refused',
}

const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, 0]))

async function parsed(text: string): Promise<unknown> {
  const read = await longObjectOf(text, bounds)
  expect(read?.excess).toBeUndefined()
  return read?.members
}

const value = fc.jsonValue({ maxDepth: 3 })
const object = fc
  .record(
    { list: fc.oneof(value, fc.array(value, { maxLength: 5 })), other: value, 'q"\\': value },
    { requiredKeys: [] },
  )
  .chain((members) => fc.tuple(fc.constant(members), fc.constantFrom(undefined, 1, '\t\n ')))
  .map(([members, indent]) => JSON.stringify(members, null, indent))

describe('A long message', () => {
  test('is read as JSON.parse reads it', async () => {
    await fc.assert(
      fc.asyncProperty(object, async (text) => {
        expect(await parsed(text)).toEqual(objectOf(text))
      }),
      { numRuns: runsOf(100) },
    )
  })

  test('that is no JSON is none here either', async () => {
    const character = fc.constantFrom(...'{}[]",:\\ \n1ae')
    const edit = fc.tuple(fc.nat(), fc.nat({ max: 3 }), fc.string({ unit: character, maxLength: 3 }))
    await fc.assert(
      fc.asyncProperty(object, edit, async (text, [at, removed, added]) => {
        const from = at % (text.length + 1)
        const edited = text.slice(0, from) + added + text.slice(from + removed)
        expect(await parsed(edited)).toEqual(objectOf(edited))
      }),
      { numRuns: runsOf(250) },
    )
  })

  test.each([
    ['the last of a name counts', '{"list":[1],"a":1,"a":2,"list":[2]}'],
    ['names may be escaped', '{"\\u006cist":[1,{"list":[2]}]}'],
    ['names of other objects are names', '{"__proto__":{"a":1},"list":[]}'],
    ['white space is no list', '{"list": [ ] , "a" : [ , ] }'],
    ['a comma too much', '{"list":[1,]}'],
    ['nothing between two commas', '{"list":[1,,2]}'],
    ['something behind it', '{"list":[1]}x'],
    ['an open string', '{"list":["a'],
    ['an empty text', ''],
    ['an empty object', ' {} '],
  ])('%s', async (_, text) => {
    expect(await parsed(text)).toEqual(objectOf(text))
  })

  test('has one element more than it may have, and no element or rest that is too long', async () => {
    const many = JSON.stringify({ list: Array(1000).fill(1), after: 1 })
    expect(await longObjectOf(many, bounds)).toMatchObject({ members: { list: Array(51).fill(1), after: 1 } })
    const long = 'x'.repeat(10_000)
    expect(await longObjectOf(JSON.stringify({ a: 1, list: [long] }), bounds)).toEqual({
      members: expect.objectContaining({ a: 1 }),
      excess: 'characters',
    })
    const rest = JSON.stringify({ rest: Array(20).fill(long), id: 7 })
    expect(await longObjectOf(rest, bounds)).toMatchObject({ excess: 'characters' })
  })
  test.each([
    ['levels', `{"list":[1,{"a":${'['.repeat(9)}${']'.repeat(9)}}]}`, undefined],
    ['levels', `{"list":[1,{"a":${'['.repeat(10)}${']'.repeat(10)}}]}`, 'levels'],
    ['values', JSON.stringify({ list: [Array(999).fill(0)] }), undefined],
    ['values', JSON.stringify({ list: [Array(1001).fill(0)] }), 'values'],
    ['values, of objects', JSON.stringify({ list: [Array(600).fill({})] }), 'values'],
    ['names', JSON.stringify({ list: [named(400)] }), undefined],
    ['names', JSON.stringify({ list: [{ a: [named(400)], f0: 0 }] }), 'names'],
    [
      'names, of which the same do not count',
      JSON.stringify({ list: [Array(2).fill(named(300))] }),
      undefined,
    ],
    ['names, not texts beside them', JSON.stringify({ list: [Object.keys(named(900))] }), undefined],
    ['values in all', JSON.stringify({ list: Array(2).fill(Array(900).fill(0)) }), 'values'],
    ['brackets of texts, which do not count', `{"list":["${'[,\\"'.repeat(1500)}"]}`, undefined],
  ])('has bounded %s in its elements', async (_, text, excess) => {
    const members = excess ? {} : (objectOf(text) ?? {})
    expect(await longObjectOf(text, bounds)).toEqual({ members: expect.objectContaining(members), excess })
  })

  test('is not parsed further than to the first element that is refused', async () => {
    const text = '{"list":["refused",no JSON],"id":1}'
    expect(await longObjectOf(text, bounds)).toMatchObject({ members: { id: 1 }, excess: 'element' })
  })

  test('is looked at in turns, a text with many escapes as well', async () => {
    const text = `{"list":["${'\\"'.repeat(100_000)}"]}`
    const turns = { pauses: 0, giveWay: async () => Boolean(++turns.pauses) }
    const scanner = new JsonScanner(text, turns)
    const [list] = (await scanner.members(9)) ?? []
    expect(list?.value).toEqual({ from: 8, to: text.length - 1, levels: 1, values: 2, names: 0 })
    expect(turns.pauses).toBeGreaterThanOrEqual(Math.floor(text.length / (64 * 1024)))
  })
})
