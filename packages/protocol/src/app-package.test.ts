import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { appPathKey, isAppPath } from './app-package.ts'

describe('A path of a package', () => {
  test.each(['index.html', 'a/b/c.js', '.well-known/x', 'a..b/..c', 'Zoë.png', 'a b', 'x'.repeat(512)])(
    'may be %j',
    (path) => expect(isAppPath(path)).toBe(true),
  )

  test.each([
    ['nothing', ''],
    ['absolute', '/a'],
    ['above the package', '../a'],
    ['above a directory', 'a/../b'],
    ['a name for the same', 'a/./b'],
    ['an empty segment', 'a//b'],
    ['a directory', 'a/'],
    ['a backslash', 'a\\b'],
    ['a drive letter', 'C:/a'],
    ['NUL', 'a\0b'],
    ['a control character', 'a\u0085b'],
    ['decomposed', 'Zoe\u0308.png'],
    ['half a character', 'a\ud800'],
    ['too long', 'x'.repeat(513)],
    ['too long in UTF-8', 'ë'.repeat(257)],
  ])('may not be or have %s', (_, path) => expect(isAppPath(path)).toBe(false))

  test.each([
    ['A/b.JS', 'a/B.js'],
    ['straße', 'STRASSE'],
    ['Ë', 'ë'],
    ['ς', 'Σ'],
  ])('clashes: %j with %j', (a, b) => expect(appPathKey(a)).toBe(appPathKey(b)))

  test('has a key that is its own key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (path) => {
        expect(appPathKey(appPathKey(path))).toBe(appPathKey(path))
      }),
    )
  })
})
