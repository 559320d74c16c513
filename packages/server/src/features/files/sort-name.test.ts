import { expect, test } from 'vitest'
import { sortNameOf } from './sort-name.ts'

test.each([
  ['numbers by their value', ['1', '2', '10', '100', '99999999999999999999', '100000000000000000000']],
  ['numbers within', ['page 2.txt', 'page 10.txt', 'page 10a.txt', 'page 11.txt', 'pages']],
  ['leading zeros as their value', ['7 a', '007 b', '7 c', '08']],
  ['letters without case and accents', ['a', 'B', 'c', 'Émile', 'emilie', 'Zoë', 'zoo']],
  ['full-width numbers as others', ['1', '２', '10']],
  ['what is folded alike by what it is', ['E', 'e', 'É', 'é']],
  ['shorter before longer', ['a', 'a b', 'a.txt', 'a1', 'aa']],
  ['other scripts by their letters', ['Zürich', 'Ωμέγα', 'Ёлка', 'ёлочка', 'Яна', 'アイ', '東京']],
])('%s', (_, names) => {
  const keys = names.map(sortNameOf)
  expect(keys.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))).toEqual(keys)
  expect(new Set(keys).size).toBe(keys.length)
})

test('a key fits an index and a cursor, whatever the name', () => {
  for (const name of [
    '\ufdfa'.repeat(255),
    '🐈'.repeat(255),
    '"'.repeat(255),
    '1'.repeat(255),
    'é'.repeat(255),
  ]) {
    const key = sortNameOf(name)
    expect(Buffer.byteLength(key)).toBeLessThanOrEqual(801)
    expect(key).not.toContain('\ufffd')
    expect(
      Buffer.from(JSON.stringify({ s: 'name', v: key, id: 'x'.repeat(46) })).toString('base64url').length,
    ).toBeLessThan(2048)
  }
})
