import { describe, expect, test } from 'vitest'
import { isVisibleName, isVisibleText, parseFileName, respellFileName, tidyName } from './visible-names.ts'

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
})

test('is kept composed, without the spaces around it', () => {
  expect(tidyName('  Zoe\u0308 B. \n')).toBe('Zoë B.')
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

describe('A file name', () => {
  test.each([
    'a',
    '.a',
    '...',
    'a b.txt',
    'Zoë.png',
    '🐈'.repeat(255),
    'x'.repeat(255),
    '<script>',
    'a:b',
    'می\u200cخواهم',
    '[]',
  ])('may be %j', (name) => expect(parseFileName(name)).toBe(name))

  test.each([
    [' a \u3000', 'a'],
    ['e\u0301te\u0301.txt', 'été.txt'],
    ['\ta.txt\n', 'a.txt'],
  ])('%j is kept as %j', (name, kept) => expect(parseFileName(name)).toBe(kept))

  const none = [
    '',
    ' ',
    '\u200b\u00ad',
    '\u2800',
    '\u0301',
    '.',
    '..',
    ' .. ',
    '/',
    'a/b',
    '\\',
    'a\\b',
    'a\nb',
    'a\0',
  ]
  const turned = [
    '\x7f',
    '\x85',
    'gpj.\u202eexe',
    'a\u2066b',
    'a\u200fb',
    'a\u2028b',
    'x'.repeat(256),
    '\ud800',
  ]
  test.each([...none, ...turned])('may not be %j', (name) => expect(parseFileName(name)).toBeUndefined())

  test.each([
    ['gpj.\u202eexe', 'gpj.exe'],
    ['a/b\\c', 'a_b_c'],
    [' e\u0301 \u2028', 'é'],
    ['x'.repeat(300), 'x'.repeat(255)],
    ['a\ud800', 'a\ufffd'],
    ['..', 'b1~id'],
    ['\u202e\u200b', 'b1~id'],
  ])('%j of another server is %j here', (name, kept) => expect(respellFileName(name, 'b1~id')).toBe(kept))
})
