import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyText } from '#harness/any-text.ts'
import { FolderNames, safeName } from './archive-names.ts'

describe('A name in an archive', () => {
  test.each([
    ['holiday.jpg', 'holiday.jpg'],
    ['Übersicht (1).txt', 'Übersicht (1).txt'],
    ['👩‍👧.png', '👩‍👧.png'],
    ['..', '__'],
    ['.', '_'],
    ['...', '___'],
    ['.profile', '.profile'],
    ['C:evil', 'C_evil'],
    ['a<b>c:"d|e?f*', 'a_b_c__d_e_f_'],
    ['CON', '_CON'],
    ['con.txt', '_con.txt'],
    ['Lpt1.tar.gz', '_Lpt1.tar.gz'],
    ['COM¹', '_COM¹'],
    ['console.log', 'console.log'],
    ['ends with a dot.', 'ends with a dot_'],
    ['and a space ', 'and a space_'],
    ['exe\u202egpj.txt', 'exe_gpj.txt'],
    ['exe\u061cgpj.txt', 'exe_gpj.txt'],
    ['\u200ea\u200fb\u202ac\u2066d\u2069', '_a_b_c_d_'],
    ['\ud800', '\ufffd'],
  ])('of %j is %j', (name, expected) => {
    expect(safeName(name)).toBe(expected)
  })

  test('is short enough for every file system, and keeps its ending', () => {
    const long = safeName(`${'ü'.repeat(250)}.jpeg`)
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(240)
    expect(long).toMatch(/^ü+\.jpeg$/)
    expect(Buffer.byteLength(safeName(`a.${'😀'.repeat(250)}`))).toBeLessThanOrEqual(240)
  })

  test('is one component of a path, whatever it was', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const name = safeName(text)
        expect(name).toMatch(/^[^/\\:*?"<>|\p{Cc}]+$/u)
        expect(name).not.toMatch(/^\.{1,2}$|[. ]$/)
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(241)
      }),
    )
  })

  test('that is there already gets a number, also in other case', () => {
    const names = new FolderNames()
    expect(['a.txt', 'A.TXT', 'a.txt', 'a (2).txt', 'b', 'b'].map((name) => names.take(name))).toEqual([
      'a.txt',
      'A (2).TXT',
      'a (3).txt',
      'a (2) (2).txt',
      'b',
      'b (2)',
    ])
  })

  test('of ten thousand that are the same is found at once', () => {
    const names = new FolderNames()
    const taken = new Set(Array.from({ length: 10_000 }, () => names.take('same.txt')))
    expect(taken.size).toBe(10_000)
    expect(taken.has('same (10000).txt')).toBe(true)
  })
})
