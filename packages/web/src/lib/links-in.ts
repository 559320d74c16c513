import { tokenize } from 'linkifyjs'
import { type Found, isWebAddress } from './text-parts.ts'

/** The web and mail addresses in a text. */
export function linksIn(text: string): Found[] {
  const links: Found[] = []
  let at = 0
  for (const token of tokenize(text)) {
    const from = at
    at += token.v.length
    const href = token.isLink ? addressOf(token.t, token.v) : undefined
    if (href !== undefined) links.push({ kind: 'link', text: token.v, href, from, to: at })
  }
  return links
}

/** Addresses with their scheme, or of the web by `www.`: `notes.md` is none. */
function addressOf(type: string, written: string): string | undefined {
  if (type === 'email') return `mailto:${written.replace(/^mailto:/i, '')}`
  if (/^www\./i.test(written)) return `https://${written}`
  return isWebAddress(written) ? written : undefined
}
