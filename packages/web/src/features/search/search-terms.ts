const longestQuery = 100

/** What to ask for: without white space around it, and as long as the server takes it. */
export function searchText(typed: string): string {
  return [...typed.trim().normalize('NFC')].slice(0, longestQuery).join('')
}

/** An identity that was written whole, in its canonical form; undefined for everything else. */
export function wholeIdTag(typed: string): string | undefined {
  const name = typed.trim().replace(/^@/, '').toLowerCase()
  return /^(?=.{3,253}$)[\p{L}\p{M}\p{N}-]+(\.[\p{L}\p{M}\p{N}-]+)*\.[\p{L}\p{M}]{2,}$/u.test(name)
    ? name
    : undefined
}
