import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { decodeBase64Url, encodeBase64Url } from './base64url.ts'

const nativeParts = [
  [Uint8Array, 'fromBase64'],
  [Uint8Array.prototype, 'toBase64'],
] as const
const originals = nativeParts.map(([owner, name]) => Object.getOwnPropertyDescriptor(owner, name))

afterEach(() => {
  for (const [at, [owner, name]] of nativeParts.entries())
    if (originals[at]) Object.defineProperty(owner, name, originals[at])
})

describe.each([
  ['with what the runtime brings', () => undefined],
  [
    'on older runtimes',
    () => nativeParts.forEach(([owner, name]) => void Reflect.deleteProperty(owner, name)),
  ],
])('%s', (_, prepare) => {
  test('bytes become text and bytes again', () => {
    prepare()
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const text = encodeBase64Url(bytes)
        expect(text).toBe(Buffer.from(bytes).toString('base64url'))
        expect(decodeBase64Url(text)).toEqual(bytes)
      }),
    )
  })

  test.each(['A', 'AAAAA', 'AA==', 'AA=', 'A+AA', 'A/AA', 'AA AA', 'AAAA\n', 'ÄAAA', 'AA.AA'])(
    '%j is refused',
    (text) => {
      prepare()
      expect(decodeBase64Url(text)).toBeUndefined()
    },
  )

  test.each(['AB', 'AAAAAB', 'AAB', 'AA_'])('%j is refused: it has another spelling', (text) => {
    prepare()
    expect(decodeBase64Url(text)).toBeUndefined()
  })
})
