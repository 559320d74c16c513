// Control characters, line separators, and what turns the direction of text around.
const unprintable = /[\p{Cc}\u2028\u2029\p{Bidi_Control}]/gu

/** A text in which nothing controls a terminal or looks like another line: as JSON would escape it, so that a JSON
 * document stays the same document. */
export function printable(text: string): string {
  return text.replaceAll(unprintable, (character) => {
    const [, short] = /^"(\\.)"$/.exec(JSON.stringify(character)) ?? []
    return short ?? `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
  })
}
