import { foldText } from './fold-text.ts'

// Scripts that are written without spaces: what looks like a word is a sentence.
const unspaced = [
  'Han',
  'Hira',
  'Kana',
  'Bopo',
  'Thai',
  'Laoo',
  'Khmr',
  'Mymr',
  'Tale',
  'Talu',
  'Lana',
  'Tavt',
]
const ofUnspaced = `[${unspaced.map((script) => `\\p{scx=${script}}`).join('')}]`
const letter = String.raw`[\p{L}\p{N}]\p{M}*`
const aWord = new RegExp(`(?:(?=${ofUnspaced})${letter})+|(?:(?!${ofUnspaced})${letter})+`, 'gu')
const beginsUnspaced = new RegExp(`^${ofUnspaced}`, 'u')
const aLetter = new RegExp(letter, 'gu')

/** The distinct words of a text, folded, in their order: letters with their marks, and digits (Unicode Standard Annex 29,
 * without its exceptions for apostrophes and dots). A run of a script that is written without spaces is one word. */
export function wordsOf(text: string): string[] {
  return [...new Set(foldText(text).match(aWord))]
}

/** Does this word belong to a script that is written without spaces? */
export function isUnspacedWord(word: string): boolean {
  return beginsUnspaced.test(word)
}

/** The letters of a word, each with its marks. */
export function lettersOf(word: string): string[] {
  return word.match(aLetter) ?? []
}

/** A search has at most so many words. */
export const maxSearchWords = 10
const run = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu

/** Whether a search has too many words: what stands between spaces and signs, in whatever scripts, each once. */
export function hasManyWords(search: string): boolean {
  return new Set(foldText(search).match(run)).size > maxSearchWords
}
