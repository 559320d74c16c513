import { searchForm } from '#lib/search-form.ts'

// The members of `content` that people read, of all types.
const readMembers = ['title', 'text', 'summary', 'subject', 'name', 'description', 'message'] as const
// Further words of a search are ignored.
const maxWords = 10

/** The words of an action's content in a form that can be compared: without case and accents. */
export function searchTextOf(content: Readonly<Record<string, unknown>> | undefined): string {
  if (!content) return ''
  const texts = readMembers.map((name) => content[name]).filter((text) => typeof text === 'string')
  return wordsOf(texts.join(' '))
    .flatMap((word) => (isUnspacedWord(word) ? [...new Set([...pairsOf(word), [...word].at(-1)])] : word))
    .join(' ')
}

/** The words of a search; each finds words that begin with it. */
export function searchWords(search: string): string[] {
  const words = wordsOf(search).flatMap((word) => (isUnspacedWord(word) ? pairsOf(word) : word))
  return [...new Set(words)].slice(0, maxWords)
}

// Scripts that are written without spaces: what looks like a word is a sentence, which is cut into overlapping pairs of
// characters.
const unspaced = '\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Mymr}'
const aWord = new RegExp(`(?:(?=[${unspaced}])[\\p{L}\\p{N}])+|(?:(?![${unspaced}])[\\p{L}\\p{N}])+`, 'gu')
const beginsUnspaced = new RegExp(`^[${unspaced}]`, 'u')

// PostgreSQL accepts terms of 2 046 bytes. Longer words are cut, and found by their beginnings.
const maxWordLength = 200

function wordsOf(text: string): string[] {
  return (searchForm(text).match(aWord) ?? []).map((word) =>
    isUnspacedWord(word) ? word : [...word].slice(0, maxWordLength).join(''),
  )
}

/** Does this word belong to a script that is written without spaces? */
export function isUnspacedWord(word: string): boolean {
  return beginsUnspaced.test(word)
}

/** A single character is its own pair. */
function pairsOf(word: string): string[] {
  const characters = [...word]
  const pairs = characters.slice(1).map((character, at) => `${characters[at]}${character}`)
  return pairs.length > 0 ? pairs : characters
}
