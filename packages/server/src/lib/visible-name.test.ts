import { expect, test } from 'vitest'
import { acceptName, isVisibleName, isVisibleText } from './visible-name.ts'

test.each(['Alice', 'Zoë 🏴󠁧󠁢󠁥󠁮󠁧󠁿 👩‍👩‍👧', 'نیم‌فاصله', 'नमस्ते', '…', 'x'.repeat(100), '😀'.repeat(100)])(
  '%j is a name',
  (name) => {
    expect(isVisibleName(name)).toBe(true)
  },
)

test.each([
  ['nothing', ''],
  ['blanks', ' \u00a0\u3000'],
  ['zero width spaces', '\u200b\u200b'],
  ['a joiner', '\u200d'],
  ['a filler', '\u3164'],
  ['the blank of Braille', '\u2800'],
  ['a mark without a letter', '\u0301'],
  ['variation selectors', '\ufe0f\ufe0f'],
  ['a code point of nobody', '\ue000'],
  ['an override of the direction', 'moc.elpmaxe\u202e'],
  ['an isolate', 'Ann\u2066e'],
  ['a mark of direction', '\u200fAnne'],
  ['a line feed', 'Ann\ne'],
  ['a separator of lines', 'Ann\u2028e'],
  ['an escape', '\u001b[31mAnne'],
  ['half a character', 'Ann\ud800e'],
  ['101 characters', 'x'.repeat(101)],
])('%s is none', (_, name) => {
  expect(isVisibleName(name)).toBe(false)
  expect(() => acceptName(name)).toThrow(expect.objectContaining({ code: 'E-VALIDATION' }))
})

test('is kept without the spaces around it', () => {
  expect(acceptName('  Anne B. \n')).toBe('Anne B.')
})

test.each([
  ['lines', 'One.\r\n\n\tTwo.', true],
  ['a mark of direction', 'מחברת\u200f!', true],
  ['more than a name', 'x'.repeat(1_000), true],
  ['nothing', '', false],
  ['lines of nothing', '\n\u200b', false],
  ['an override of the direction', 'a\u202eb', false],
  ['an isolate', 'a\u2066b', false],
  ['an escape', '\u001b[31mAnne', false],
  ['half a character', 'Ann\ud800e', false],
])('%s: text, or not', (_, text, isText) => {
  expect(isVisibleText(text)).toBe(isText)
})
