/** A text in the form in which searches compare: without case and accents, in all scripts. */
export function searchForm(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
}
