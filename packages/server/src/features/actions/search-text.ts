// Members of `content` that people read, of whatever type it is.
const readMembers = ['title', 'text', 'summary', 'subject', 'name', 'description', 'message'] as const
// A search of more words finds no more.
const maxWords = 10

/** The words of an action's content, spelled so that they can be compared: without case and accents. */
export function searchTextOf(content: Readonly<Record<string, unknown>> | undefined): string {
  if (!content) return ''
  const texts = readMembers.map((name) => content[name]).filter((text) => typeof text === 'string')
  return wordsOf(texts.join(' ')).join(' ')
}

/** The words that somebody looks for. */
export function searchWords(search: string): string[] {
  return [...new Set(wordsOf(search))].slice(0, maxWords)
}

function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return plain.match(/[\p{L}\p{N}]+/gu) ?? []
}
