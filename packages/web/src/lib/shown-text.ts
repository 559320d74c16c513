/** A text without the marks beyond the sixth on one letter: more than any script has, and no tower over the lines above. */
export function capMarks(text: string): string {
  return text.replace(/(\p{M}{6})\p{M}+/gu, '$1')
}

/** The beginning of a long text, which ends between words; undefined where the text is short enough to stand whole. */
export function beginningOf(text: string, maxLength: number, maxLines: number): string | undefined {
  const lines = text.split('\n', maxLines + 1)
  const isTall = lines.length > maxLines
  // A few words more are no reason to fold.
  if (!isTall && text.length <= maxLength * 1.25) return undefined
  const cut = (isTall ? lines.slice(0, maxLines).join('\n') : text).slice(0, maxLength)
  const atWord = cut.length === maxLength ? cut.replace(/\s+\S{0,40}$/u, '') : cut
  return `${wholeCharacters(atWord)}…`
}

/** So much of a text as an excerpt shows. */
export function excerptOf(text: string, maxLength: number): string {
  // Marks beyond a few are not shown; so many that nothing else is left in this are no text.
  return wholeCharacters(capMarks(text.slice(0, maxLength * 8)).slice(0, maxLength))
}

// A cut may leave half a surrogate pair at the end.
function wholeCharacters(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, '').trimEnd()
}
