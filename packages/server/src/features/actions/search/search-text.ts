import { hasManyWords, isUnspacedWord, lettersOf, maxSearchWords, wordsOf } from '@kith/protocol'
import { invalid } from '#lib/failure.ts'

// The members of `content` that people read, of all types.
const readMembers = ['title', 'text', 'summary', 'subject', 'name', 'description', 'message'] as const

/** The words of an action's content as they are compared, with a space between them. Of scripts that are written without
 * spaces: each two letters that follow each other, and the last one. */
export function searchTextOf(content: Readonly<Record<string, unknown>> | undefined): string {
  if (!content) return ''
  const texts = readMembers.map((name) => content[name]).filter((text) => typeof text === 'string')
  const words = wordsOf(texts.join(' ')).flatMap((word) => {
    if (!isUnspacedWord(word)) return cut(word)
    const letters = lettersOf(word)
    return [...pairsOf(letters), cut(letters.at(-1) ?? '')]
  })
  return [...new Set(words)].join(' ')
}

/** The words of a search; each finds words that begin with it. `E-VALIDATION` for more than ten, where a run of scripts
 * without spaces is one. */
export function searchWords(search: string): string[] {
  if (hasManyWords(search)) throw invalid('/query/search', `has more than ${maxSearchWords} words`)
  const words = wordsOf(search)
  return [...new Set(words.flatMap((word) => (isUnspacedWord(word) ? pairsOf(lettersOf(word)) : cut(word))))]
}

/** A single letter is its own pair. */
function pairsOf(letters: readonly string[]): string[] {
  const pairs = letters.slice(1).map((letter, at) => cut(`${letters[at]}${letter}`))
  return pairs.length > 0 ? pairs : letters.map(cut)
}

// PostgreSQL accepts terms of 2 046 bytes. Longer words are cut, and found by their beginnings.
const maxWordLength = 200

function cut(word: string): string {
  return word.length <= maxWordLength ? word : [...word].slice(0, maxWordLength).join('')
}
