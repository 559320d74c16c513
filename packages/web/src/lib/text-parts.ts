import { findMentions, findTags } from '@kith/protocol'

/** A piece of a text that somebody has written. */
export type TextPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string }
  | { readonly kind: 'mention'; readonly text: string; readonly idTag: string }
  | { readonly kind: 'tag'; readonly text: string; readonly tag: string }

/** A part that is more than text, and where it stands. */
export type Found = Exclude<TextPart, { kind: 'text' }> & { readonly from: number; readonly to: number }

/** Finds web and mail addresses: `linksIn`, which is loaded with the first text that may have one. */
export type FindLinks = (text: string) => readonly Found[]

/** Whether a text may have addresses in it. */
export function mayHaveLinks(text: string): boolean {
  return /:\/\/|www\.|@/i.test(text)
}

/** A text as plain pieces, web and mail addresses, mentions and tags, in their order. */
export function textParts(text: string, findLinks: FindLinks = () => []): TextPart[] {
  const mentions = [...findMentions(text)].map((mention) => ({ kind: 'mention' as const, ...mention }))
  const tags = findTags(text).map((tag) => ({ kind: 'tag' as const, ...tag }))
  const written = [...mentions, ...tags].map((one) => ({ ...one, text: text.slice(one.from, one.to) }))
  const found = [...findLinks(text), ...written].sort((a, b) => a.from - b.from)
  const parts: TextPart[] = []
  let at = 0
  for (const { from, to, ...part } of found) {
    // A tag in an address is a part of the address.
    if (from < at) continue
    if (from > at) parts.push({ kind: 'text', text: text.slice(at, from) })
    parts.push(part)
    at = to
  }
  if (at < text.length) parts.push({ kind: 'text', text: text.slice(at) })
  return parts
}

/** Whether an address may be a link: of the web, and nothing that runs. */
export function isWebAddress(address: string): boolean {
  return /^https?:\/\//i.test(address) && URL.canParse(address)
}
