import { describe, expect, test } from 'vitest'
import { encodeBase64Url, hasLargeNumber, maxJsonDepth, parseSignedToken, readJson } from './index.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

test('a large number is found wherever it stands', () => {
  for (const text of ['1e400', '-1e400', '[1,[1e400]]', '{"a":{"b":1e400}}'])
    expect(hasLargeNumber(JSON.parse(text))).toBe(true)
  for (const text of ['1e308', '[null,"1e400"]', '{"1e400":true}'])
    expect(hasLargeNumber(JSON.parse(text))).toBe(false)
})

describe('JSON from outside', () => {
  test.each([
    ['that is nested as deep as it may be', nested(maxJsonDepth)],
    [
      'with brackets, quotes and escapes in its texts',
      JSON.stringify({ a: '['.repeat(99), b: '\\"\\u0000' }),
    ],
    ['with characters of two halves', '"\\ud83d\\ude00 \\uD83D\\uDE00"'],
    ['of one number', '1'],
    ['of the largest number', '1.7976931348623157e308'],
    ['of numbers near nothing', '[1e-400, 0e999, 1e+2]'],
    ['with what only looks like a large number', '{"1e400":"1e400"}'],
  ])('%s is read', (_, text) => {
    expect(readJson(bytes(text))).toEqual({ value: JSON.parse(text) })
  })

  test('has the last of members with one name', () => {
    expect(readJson(bytes('{"a":{"b":1},"a":{"c":2,"c":3}}'))).toEqual({ value: { a: { c: 3 } } })
  })

  test.each([
    ['nested one level deeper', bytes(nested(maxJsonDepth + 1)), 'depth'],
    ['deep enough to overflow a stack', bytes(nested(90_000)), 'depth'],
    ['with U+0000 in a text', bytes('{"a":["\\u0000"]}'), 'nul'],
    ['with U+0000 in a name', bytes('{"a\\u0000":1}'), 'nul'],
    ['with half a character in a text', bytes('["\\ud800"]'), 'surrogate'],
    ['with halves in the wrong order', bytes('["\\uDC00\\uD800"]'), 'surrogate'],
    ['with half a character in a name', bytes('{"\\uDfff":1}'), 'surrogate'],
    ['with a number that is too large', bytes('{"a":[1e400]}'), 'number'],
    ['with one that is too small', bytes('[-1E+309]'), 'number'],
    ['with one of many digits', bytes(`[${'9'.repeat(309)}]`), 'number'],
    ['with one of many digits and a small exponent', bytes(`[${'9'.repeat(300)}.5e9]`), 'number'],
    ['of bytes that are no UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 'encoding'],
    ['after a byte order mark', bytes('\ufeff{}'), 'syntax'],
    ['that is cut short', bytes('{"a":'), 'syntax'],
    ['of nothing', bytes(''), 'syntax'],
  ])('%s is refused', (_, given, problem) => {
    expect(readJson(given)).toEqual({ problem })
  })

  test('obeys the same rules in a signed token', () => {
    const token = (payload: string) =>
      [bytes('{"alg":"ES384","typ":"JWT","kid":"k"}'), bytes(payload), new Uint8Array(96)]
        .map(encodeBase64Url)
        .join('.')
    expect(parseSignedToken(token('{"a":1}'), 10_000)).toMatchObject({ payload: { a: 1 } })
    for (const payload of [`{"a":${nested(maxJsonDepth)}}`, '{"a":"\\u0000"}'])
      expect(parseSignedToken(token(payload), 10_000)).toEqual({ problem: 'payload' })
  })
})
