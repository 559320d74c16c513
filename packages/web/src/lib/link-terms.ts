/** How long a new link can be made to work, in days; undefined: until somebody ends it. */
const daysOf = { inDay: 1, inWeek: 7, inMonth: 30, never: undefined } as const

export type LinkEnd = keyof typeof daysOf
export const linkEnds = Object.keys(daysOf) as readonly LinkEnd[]

/** What somebody enters about a new link. */
export interface EnteredTerms {
  readonly description: string
  readonly end: LinkEnd
  readonly uses: string
}

/** The same as the API takes it; a `count` of null is any number of uses. */
export interface LinkTerms {
  readonly count: number | null
  readonly description?: string
  readonly expiresAt?: Date
}

/** What was entered as the API takes it; undefined where `uses` is neither empty, which is any number, nor a whole number from 1
 * to `usesAtMost`. */
export function linkTerms(
  { description, end, uses }: EnteredTerms,
  usesAtMost: number,
  nowMs = Date.now(),
): LinkTerms | undefined {
  const written = uses.trim()
  const count = written === '' ? null : Number(written)
  if (count !== null && !(/^\d+$/.test(written) && count >= 1 && count <= usesAtMost)) return undefined
  const days = daysOf[end]
  return {
    count,
    ...(description.trim() === '' ? {} : { description: description.trim() }),
    ...(days === undefined ? {} : { expiresAt: new Date(nowMs + days * 86_400_000) }),
  }
}
