import { findTags, foldText } from '@kith/protocol'

/** A name or tag that is being typed: what was typed of it, and where its sign stands. */
export interface Completion {
  readonly kind: '@' | '#'
  readonly query: string
  readonly from: number
}

const begun = /(?:^|[\s(])([@#])([\p{L}\p{M}\p{N}\p{Join_Control}_.-]{0,64})$/u
// Longer than what `begun` can match.
const lookedAt = 140

/** What the text before the caret begins. */
export function findCompletion(text: string, caret: number): Completion | undefined {
  const [, sign, query] = begun.exec(text.slice(Math.max(0, caret - lookedAt), caret)) ?? []
  if (query === undefined || (sign !== '@' && sign !== '#')) return undefined
  return { kind: sign, query, from: caret - query.length - 1 }
}

/** The text with the chosen value and a space behind it, and where the caret is then. */
export function complete(
  text: string,
  { kind, query, from }: Completion,
  value: string,
): { readonly text: string; readonly caret: number } {
  const rest = text.slice(from + 1 + query.length)
  const written = `${text.slice(0, from)}${kind}${value} `
  return { text: written + rest.replace(/^ /, ''), caret: written.length }
}

/** The tags of these texts that begin so, the most frequent first. */
export function suggestTags(texts: readonly string[], query: string, atMost: number): string[] {
  const counts = new Map<string, number>()
  for (const text of texts) for (const { tag } of findTags(text)) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  const start = foldText(query)
  return [...counts]
    .filter(([name]) => foldText(name).startsWith(start) && name !== query)
    .sort(([, one], [, other]) => other - one)
    .slice(0, atMost)
    .map(([name]) => name)
}
