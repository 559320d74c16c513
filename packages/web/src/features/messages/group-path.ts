/** The address at which a conversation with several is begun. */
export function groupPath(idTags: readonly string[]): string {
  return `/messages/${idTags.map(encodeURIComponent).join(',')}`
}

/** Whom such an address names; one alone for the conversation with somebody. */
export function peopleNamed(named: string): readonly string[] {
  return [...new Set(named.split(',').filter((one) => one !== ''))]
}
