import { compareValues, isEqualValue } from '@kith/protocol'
import { expect, test } from 'vitest'
import { isSameValue, memberOf, plainObject } from './values.ts'

const ordered: readonly unknown[] = [
  undefined,
  '',
  '1',
  'B',
  'a',
  'a\u0000',
  '\u{1F600}',
  '\uE000',
  '\uFFFD',
  -1e300,
  -1,
  0,
  0.5,
  2,
  10,
  [1, 2],
  [10],
  [],
  false,
  null,
  true,
  { a: 1 },
  {},
]

test('orders values of all kinds, texts by code unit and numbers by size', () => {
  for (const [index, value] of ordered.entries())
    for (const [other, against] of ordered.entries())
      expect(Math.sign(compareValues(value, against))).toBe(Math.sign(index - other))
})

test.each([
  ['by text', isEqualValue],
  ['member by member', isSameValue],
])('equality is by structure, %s', (_, isEqual) => {
  expect(isEqual(JSON.parse('1.0'), JSON.parse('1'))).toBe(true)
  expect(isEqual(JSON.parse('-0'), 0)).toBe(true)
  expect(isEqual({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1.0 })).toBe(true)
  expect(isEqual([1, 2], [2, 1])).toBe(false)
  expect(isEqual(1, '1')).toBe(false)
  expect(isEqual(null, 0)).toBe(false)
  expect(isEqual({}, [])).toBe(false)
  expect(isEqual({ a: 1, b: 1 }, { a: 1, c: 1 })).toBe(false)
  expect(isEqual([1], [1, 1])).toBe(false)
  expect(isEqual(undefined, null)).toBe(false)
  expect(isEqual(JSON.parse('{"__proto__":{}}'), {})).toBe(false)
})

test('names that objects inherit are plain keys', () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    expect(memberOf({}, name)).toBeUndefined()
    const object = plainObject()
    object[name] = { polluted: true }
    expect(memberOf(object, name)).toEqual({ polluted: true })
    expect(JSON.stringify(object)).toBe(`{"${name}":{"polluted":true}}`)
  }
  expect(JSON.stringify(plainObject(JSON.parse('{"__proto__":1}')))).toBe('{"__proto__":1}')
  expect((Object.prototype as { polluted?: boolean }).polluted).toBeUndefined()
})
