import { expect, test } from 'vitest'
import { beginningOf, capMarks } from './shown-text.ts'

test('10 000 marks on one letter become six', () => {
  expect(capMarks(`a${'\u0301'.repeat(10_000)}b`)).toBe(`a${'\u0301'.repeat(6)}b`)
})

test.each(['e\u0301', 'שָׁלוֹם', 'नमस्ते', '👩‍👩‍👧‍👦'])('%s stays as it is', (text) => {
  expect(capMarks(text)).toBe(text)
})

test('a short text is not folded', () => {
  expect(beginningOf('one two', 100, 10)).toBeUndefined()
  expect(beginningOf('x'.repeat(110), 100, 10)).toBeUndefined()
})

test('a long text is folded between words', () => {
  expect(beginningOf('word '.repeat(1_000), 22, 10)).toBe('word word word word…')
})

test('a text of many lines is folded, and no half of a character stays', () => {
  expect(beginningOf('a\n'.repeat(50), 600, 3)).toBe('a\na\na…')
  expect(beginningOf('😀'.repeat(1_000), 101, 10)).toBe(`${'😀'.repeat(50)}…`)
})
