import { expect, test } from 'vitest'
import { hasManyWords, isUnspacedWord, lettersOf, wordsOf } from './words.ts'

test.each([
  ['  Foo-BAR "foo" ', ['foo', 'bar']],
  ['!!! %_ \u0301 \u200d', []],
  ["don't foo_bar №5", ['don', 't', 'foo', 'bar', 'no5']],
  ['हिन्दी में', ['हिन्दी', 'में']],
  ['東京都庁2026 and 東', ['東京都庁', '2026', 'and', '東']],
  ['می\u200cخواهم soft\u00adhyphen', ['میخواهم', 'softhyphen']],
])('%j has the words %j', (text, words) => {
  expect(wordsOf(text)).toEqual(words)
})

test('letters come with their marks', () => {
  expect(lettersOf('हिन्दी')).toEqual(['हि', 'न्', 'दी'])
  expect(['東', 'パ', 'กิน', '한', 'a', '5'].map(isUnspacedWord)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ])
})

test.each([
  ['a b c d e f g h i j', false],
  ['a b c d e f g h i j k', true],
  ['to be or not to be that is the question whether to', false],
  ['2024年12月31日23時59分58秒', false],
  ['いろはにほへとちりぬるを', false],
  ['a-b-c-d-e-f-g-h-i-j-k', true],
])('%j has too many words: %j', (search, isMany) => {
  expect(hasManyWords(search)).toBe(isMany)
})
