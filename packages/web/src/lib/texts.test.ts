import { expect, test } from 'vitest'
import { chooseLanguage, defineTexts, plural, pseudo, textsIn } from './texts.ts'

const texts = defineTexts(
  {
    hello: 'Hello',
    files: (count: number) => plural('en', count, { one: '1 file', other: `${count} files` }),
  },
  {
    hello: 'Hallo',
    files: (count) => plural('de', count, { one: '1 Datei', other: `${count} Dateien` }),
  },
)

test('sentences are told in the language', () => {
  expect([textsIn(texts, 'en').hello, textsIn(texts, 'de').hello]).toEqual(['Hello', 'Hallo'])
  expect([1, 2].map((count) => textsIn(texts, 'de').files(count))).toEqual(['1 Datei', '2 Dateien'])
})

test('the pseudo-language changes every sentence, by 40 %', () => {
  expect(textsIn(texts, 'en-XA').hello).toBe('[Héllö~~]')
  expect(textsIn(texts, 'en-XA').files(2)).toBe('[2~ fîlés~~]')
  expect(pseudo('x'.repeat(100)).length).toBe(142)
})

test.each([
  ['de', ['en'], 'de'],
  [undefined, ['fr-CH', 'de-AT', 'en'], 'de'],
  [undefined, ['fr'], 'en'],
  ['en-XA', ['de'], 'en-XA'],
  [undefined, ['en-XA', 'en'], 'en-XA'],
  ['de', ['en-XA'], 'de'],
  ['xx', ['de'], 'de'],
] as const)('of %s and %s, %s is chosen', (chosen, wanted, language) => {
  expect(chooseLanguage(chosen, wanted)).toBe(language)
})
