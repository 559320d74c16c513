import { compareTexts, compareValues } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { Dice } from '#harness/dice.ts'
import { runsOf } from '#harness/property-runs.ts'
import { testSeed } from '#harness/test-seed.ts'
import { collectionKey, entryKeys, isCutKey, originalText, sortableText, valueKey } from './sort-keys.ts'

const bytesOrder = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

const texts = [
  '',
  'a',
  'a\u0000',
  'a\u0001',
  'a\u0002',
  'ab',
  'é',
  '\ud7ff',
  '\u{10000}',
  '\u{1F600}',
  '\u{10FFFF}',
]
  .concat(['\uE000', '\uE000a', '\uFFFD', '\uFFFF', '\u{1F600}\uE000', '\uE000\u{1F600}'])
  .concat(['x'.repeat(127), 'x'.repeat(128), `${'x'.repeat(128)}y`, '\u{1F600}'.repeat(200)])

test('sortable texts have in bytes the order of code units, and come back', () => {
  for (const a of texts) {
    expect(originalText(sortableText(a))).toBe(a)
    for (const b of texts)
      expect(Math.sign(bytesOrder(sortableText(a), sortableText(b)))).toBe(compareTexts(a, b))
  }
})

describe('the key of a value', () => {
  const values: unknown[] = [
    undefined,
    null,
    true,
    false,
    [],
    {},
    [1],
    ['a'],
    { a: 1 },
    { b: [null] },
    ...texts,
  ]
  values.push(0, -0, 1, -1, 0.1, -0.1, 1e300, -1e300, 5e-324, -5e-324, 2 ** 53, Number.MAX_VALUE)

  test('has the place that the value has', () => {
    for (const a of values)
      for (const b of values) {
        const byValue = Math.sign(compareValues(a, b))
        const [keyA, keyB] = [valueKey(a) ?? '', valueKey(b) ?? '']
        const byKey = bytesOrder(keyA, keyB)
        if (isCutKey(keyA) && keyA === keyB) continue
        expect(`${keyA} ${byKey} ${keyB}`).toBe(`${keyA} ${byValue} ${keyB}`)
      }
  })

  test('is the same as that of an equal value', () => {
    expect(valueKey({ a: 1, b: 2 })).toBe(valueKey({ b: 2, a: 1.0 }))
    expect(valueKey(-0)).toBe(valueKey(0))
    expect(valueKey('\ud800')).toBeUndefined()
  })

  test('of random numbers sorts as they do', () => {
    const seed = testSeed()
    const dice = new Dice(seed)
    const random = () => dice.roll()
    for (let run = 0; run < runsOf(1000); run += 1) {
      const [a, b] = [
        (random() - 0.5) * 10 ** (random() * 30 - 15),
        (random() - 0.5) * 10 ** (random() * 30 - 15),
      ]
      expect(`${a} ${b} ${Math.sign(bytesOrder(valueKey(a) ?? '', valueKey(b) ?? ''))} seed ${seed}`).toBe(
        `${a} ${b} ${Math.sign(a - b)} seed ${seed}`,
      )
    }
  })

  test('is short, whatever the value is', () => {
    for (const value of ['\u{1F600}'.repeat(10_000), '\0'.repeat(10_000), Array(10_000).fill('\uE000')])
      expect(Buffer.byteLength(valueKey(value) ?? '')).toBeLessThanOrEqual(520)
  })
})

test('a document has an entry for its value, and one for each element of an array', () => {
  expect(entryKeys(undefined)).toEqual(['v0'])
  expect(entryKeys('x')).toEqual(['v1x'])
  expect(entryKeys(['x', 'x', 'y'])).toEqual(['v3["x","x","y"]', 'e1x', 'e1y'])
  expect(entryKeys(Array.from({ length: 1001 }, (_, index) => `${index}`))).toEqual([
    expect.any(String),
    'e*',
  ])
})

test('long paths have short keys of their own', () => {
  const [one, other] = [`${'é'.repeat(1000)}/a/b`, `${'é'.repeat(1000)}/a/c`]
  expect(collectionKey('posts/p1/comments')).toBe('posts/p1/comments')
  expect(Buffer.byteLength(collectionKey(one))).toBeLessThan(64)
  expect(collectionKey(one)).not.toBe(collectionKey(other))
})
