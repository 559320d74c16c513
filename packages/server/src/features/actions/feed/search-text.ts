// Members of `content` that people read, of whatever type it is.
const readMembers = ['title', 'text', 'summary', 'subject', 'name', 'description', 'message'] as const
// A search of more words finds no more.
const maxWords = 10

/** The words of an action's content, spelled so that they can be compared: without case and accents. */
export function searchTextOf(content: Readonly<Record<string, unknown>> | undefined): string {
  if (!content) return ''
  const texts = readMembers.map((name) => content[name]).filter((text) => typeof text === 'string')
  return wordsOf(texts.join(' '))
    .flatMap((word) => (isUnspacedWord(word) ? [...new Set([...pairsOf(word), [...word].at(-1)])] : word))
    .join(' ')
}

/** The words that somebody looks for; each is found where a word begins with it. */
export function searchWords(search: string): string[] {
  const words = wordsOf(search).flatMap((word) => (isUnspacedWord(word) ? pairsOf(word) : word))
  return [...new Set(words)].slice(0, maxWords)
}

// Written without spaces: what looks like one word is a sentence, and is cut into pairs of characters that overlap.
const unspaced = '\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Mymr}'
const aWord = new RegExp(`(?:(?=[${unspaced}])[\\p{L}\\p{N}])+|(?:(?![${unspaced}])[\\p{L}\\p{N}])+`, 'gu')
const beginsUnspaced = new RegExp(`^[${unspaced}]`, 'u')

// PostgreSQL takes terms of 2 046 bytes. Longer words are found by their beginnings.
const maxWordLength = 200

function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return (plain.match(aWord) ?? []).map((word) =>
    isUnspacedWord(word) ? word : [...word].slice(0, maxWordLength).join(''),
  )
}

/** Is it of a script that is written without spaces? */
export function isUnspacedWord(word: string): boolean {
  return beginsUnspaced.test(word)
}

/** A single character is its own pair. */
function pairsOf(word: string): string[] {
  const characters = [...word]
  const pairs = characters.slice(1).map((character, at) => `${characters[at]}${character}`)
  return pairs.length > 0 ? pairs : characters
}
