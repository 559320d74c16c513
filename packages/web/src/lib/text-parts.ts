import { parseIdTag } from '@kith/protocol'

/** A piece of a text that somebody has written. */
export type TextPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string }
  | { readonly kind: 'mention'; readonly text: string; readonly idTag: string }
  | { readonly kind: 'tag'; readonly text: string; readonly tag: string }

/** A part that is more than text, and where it stands. */
export type Found = Exclude<TextPart, { kind: 'text' }> & { readonly from: number; readonly to: number }

// As the server finds mentions and tags.
const atName = /(?<![\p{L}\p{N}_.@/-])@([\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+)/gu
const hashTag = /(?<![\p{L}\p{N}_#&/])#([\p{L}\p{N}_]{1,64})(?![\p{L}\p{N}_])/gu

/** Finds web and mail addresses: `linksIn`, which is loaded with the first text that may have one. */
export type FindLinks = (text: string) => readonly Found[]

/** Whether a text may have addresses in it. */
export function mayHaveLinks(text: string): boolean {
  return /:\/\/|www\.|@/i.test(text)
}

/** A text as plain pieces, web and mail addresses, mentions and tags, in their order. */
export function textParts(text: string, findLinks: FindLinks = () => []): TextPart[] {
  const found = [...findLinks(text), ...mentionsIn(text), ...tagsIn(text)].sort((a, b) => a.from - b.from)
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

function mentionsIn(text: string): Found[] {
  return [...text.matchAll(atName)].flatMap(({ 0: written, 1: name = '', index }) => {
    const idTag = parseIdTag(name)
    const place = { from: index, to: index + written.length }
    return idTag ? [{ kind: 'mention' as const, text: written, idTag, ...place }] : []
  })
}

function tagsIn(text: string): Found[] {
  return [...text.matchAll(hashTag)].map(({ 0: written, 1: tag = '', index }) => ({
    kind: 'tag',
    text: written,
    tag,
    from: index,
    to: index + written.length,
  }))
}
