import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeBase64Url, decodeCursor, encodeBase64Url, encodeCursor } from './index.ts'

// `fc.string` of unit `binary` takes seconds to be made. Lone surrogates are no Unicode scalar values: they are refused.
const isScalar = (point: number) => point < 0xd800 || point > 0xdfff
const anyText = fc.array(fc.nat(0x10ffff).filter(isScalar)).map((points) => String.fromCodePoint(...points))
const withoutNul = (text: string) => text.replaceAll('\0', '')
const value = fc.oneof(
  anyText.map(withoutNul),
  fc.constant(null),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const base64 = (text: string) => encodeBase64Url(new TextEncoder().encode(text))

describe('cursors', () => {
  test('are read back from what was written', () => {
    const cursor = fc.record({ s: fc.string(), v: value, id: fc.oneof(fc.string(), fc.integer()) })
    fc.assert(
      fc.property(cursor, (written) => {
        const read = decodeCursor(encodeCursor(written), written.s)
        expect(JSON.stringify(read)).toBe(JSON.stringify(written))
      }),
    )
  })

  test('are base64url of the JSON of s, v and id', () => {
    const text = encodeCursor({ s: 'created', v: 1, id: 'a' })
    expect(new TextDecoder().decode(decodeBase64Url(text))).toBe('{"s":"created","v":1,"id":"a"}')
  })

  test('made for another sort order are refused', () => {
    expect(decodeCursor(encodeCursor({ s: 'created', v: 1, id: 'a' }), 'name')).toBeUndefined()
  })

  test.each([
    ['empty text', ''],
    ['foreign characters', '***'],
    ['padding', `${base64('{"s":"created","v":1,"id":"a"}')}=`],
    ['no JSON', base64('{')],
    ['no object', base64('null')],
    ['a missing id', base64('{"s":"created","v":1}')],
    ['a missing value', base64('{"s":"created","id":"a"}')],
    ['an object as value', base64('{"s":"created","v":{},"id":"a"}')],
    ['a boolean as id', base64('{"s":"created","v":1,"id":true}')],
    ['an infinite value', base64('{"s":"created","v":1e999,"id":"a"}')],
    ['bytes that are no UTF-8', encodeBase64Url(new Uint8Array([0x7b, 0xff, 0x7d]))],
    ['U+0000', base64('{"s":"created","v":"\\u0000","id":"a"}')],
    ['another spelling', base64('{"s":"created","v":12,"id":"a"}').replace(/Q$/, 'R')],
    ['too much text', encodeCursor({ s: 'created', v: 'x'.repeat(3000), id: 'a' })],
  ])('refuse %s', (_, text) => {
    expect(decodeCursor(text, 'created')).toBeUndefined()
  })

  test('drop members that nobody asked for', () => {
    const text = base64('{"s":"created","v":1,"id":"a","__proto__":{"x":1},"extra":true}')
    expect(decodeCursor(text, 'created')).toEqual({ s: 'created', v: 1, id: 'a' })
  })

  test('answer a cursor or nothing for any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(() => decodeCursor(text, 'created')).not.toThrow()
      }),
    )
  })
})

describe('base64url', () => {
  test('is what the platform writes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = encodeBase64Url(bytes)
        expect(text).toBe(Buffer.from(bytes).toString('base64url'))
        expect(decodeBase64Url(text)).toEqual(bytes)
      }),
    )
  })

  test.each(['A', 'AA==', 'A+A', 'A/A', 'A A', 'AAAAA', 'ä'])('refuses %j', (text) => {
    expect(decodeBase64Url(text)).toBeUndefined()
  })
})
