import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  actionIdOf,
  encodeBase64Url,
  fileIdOf,
  fileTypeOf,
  fileTypes,
  parseActionId,
  parseFileId,
  parseIdTag,
  parseRefId,
  parseVariantId,
  variantNames,
} from './index.ts'

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(encodeBase64Url)

describe('parseIdTag', () => {
  test.each([
    ['alice.example.com', 'alice.example.com'],
    ['Alice.EXAMPLE.com', 'alice.example.com'],
    ['alice.localhost', 'alice.localhost'],
    ['a.b', 'a.b'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['BÜCHER.example', 'xn--bcher-kva.example'],
    ['XN--BCHER-KVA.example', 'xn--bcher-kva.example'],
    ['faß.example', 'xn--fa-hia.example'],
    ['ａlice.example', 'alice.example'],
    ['alice。example', 'alice.example'],
    ['ab--cd.example', 'ab--cd.example'],
    [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
  ])('takes %s as %s', (input, idTag) => {
    expect(parseIdTag(input)).toBe(idTag)
  })

  test.each([
    '',
    'localhost',
    'alice',
    'alice.example.',
    '.alice.example',
    'alice..example',
    '-alice.example',
    'alice-.example',
    'ali_ce.example',
    'alice.example:8080',
    'alice@example.com',
    'alice.example/path',
    'alice.example?x',
    'alice.example#x',
    'alice%2eexample',
    'alice\\.example',
    'alice .example',
    'alice\n.example',
    'alice\u0000.example',
    '127.0.0.1',
    'alice.0x7f',
    'alice.1',
    '[::1].example',
    'xn--.example',
    'zero\u200dwidth.example',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(126)}bc`,
    `${'ü'.repeat(2000)}.example`,
  ])('refuses %j', (input) => {
    expect(parseIdTag(input)).toBeUndefined()
  })

  test('takes 253 characters and no more', () => {
    const longest = `${'a.'.repeat(125)}abc`
    expect(longest).toHaveLength(253)
    expect(parseIdTag(longest)).toBe(longest)
    expect(parseIdTag(`a${longest}`)).toBeUndefined()
  })

  test('makes a form that stays as it is', () => {
    const label = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 8 }),
      fc.stringMatching(/^[a-zA-Z0-9-]{1,8}$/),
    )
    fc.assert(
      fc.property(fc.array(label, { minLength: 1, maxLength: 4 }), (labels) => {
        const idTag = parseIdTag(labels.join('.'))
        if (idTag === undefined) return
        expect(parseIdTag(idTag)).toBe(idTag)
        expect(new URL(`http://${idTag}/`).hostname).toBe(idTag)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('file, variant and action ids', () => {
  test('are read back from what made them', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...fileTypes),
        hash,
        fc.constantFrom(...variantNames),
        (type, text, variant) => {
          const fileId = fileIdOf(type, text)
          expect(parseFileId(fileId)).toBe(fileId)
          expect(fileTypeOf(fileId)).toBe(type)
          expect(parseVariantId(`${fileId}~${variant}`)).toEqual({ fileId, variant })
          expect(parseActionId(actionIdOf(text))).toBe(`a1~${text}`)
        },
      ),
    )
  })

  test('have one spelling per hash', () => {
    fc.assert(
      fc.property(
        hash,
        fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'),
        (text, last) => {
          const respelled = `b1~${text.slice(0, 42)}${last}`
          const isCanonical = 'AEIMQUYcgkosw048'.includes(last)
          expect(parseFileId(respelled) !== undefined).toBe(isCanonical)
        },
      ),
    )
  })

  const good = 'A'.repeat(43)
  test.each([
    '',
    `b1~${'A'.repeat(42)}`,
    `b1~${good}A`,
    `b2~${good}`,
    `x1~${good}`,
    `a1~${good}`,
    `B1~${good}`,
    `b1~${'A'.repeat(42)}=`,
    `b1~${good}\n`,
    ` b1~${good}`,
    `b1~${good}~tn`,
    `b1~../${'A'.repeat(40)}`,
  ])('refuses %j as a file id', (text) => {
    expect(parseFileId(text)).toBeUndefined()
  })

  test.each([
    '',
    `b1~${good}`,
    `b1~${good}~`,
    `b1~${good}~xl`,
    `b1~${good}~TN`,
    '~tn',
    'tn',
    `a1~${good}~tn`,
  ])('refuses %j as a variant id', (text) => {
    expect(parseVariantId(text)).toBeUndefined()
  })

  test('cannot be made from anything but 32 bytes', () => {
    expect(() => fileIdOf('BLOB', 'short')).toThrow(TypeError)
    expect(() => actionIdOf('short')).toThrow(TypeError)
  })
})

describe('parseRefId', () => {
  test('takes 24 letters and digits and nothing else', () => {
    expect(parseRefId('0123456789ABCDEFabcdefgh')).toBe('0123456789ABCDEFabcdefgh')
    for (const text of ['', 'a'.repeat(23), 'a'.repeat(25), `${'a'.repeat(23)}-`, `${'a'.repeat(23)}\n`]) {
      expect(parseRefId(text)).toBeUndefined()
    }
  })
})
