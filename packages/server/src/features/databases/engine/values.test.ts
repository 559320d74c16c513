import { compareValues, isEqualValue } from '@kith/protocol'
import { expect, test } from 'vitest'
import { memberOf, plainObject } from './values.ts'

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

test('equality is by structure', () => {
  expect(isEqualValue(JSON.parse('1.0'), JSON.parse('1'))).toBe(true)
  expect(isEqualValue(JSON.parse('-0'), 0)).toBe(true)
  expect(isEqualValue({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1.0 })).toBe(true)
  expect(isEqualValue([1, 2], [2, 1])).toBe(false)
  expect(isEqualValue(1, '1')).toBe(false)
  expect(isEqualValue(null, 0)).toBe(false)
  expect(isEqualValue({}, [])).toBe(false)
  expect(isEqualValue(JSON.parse('{"__proto__":{}}'), {})).toBe(false)
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
