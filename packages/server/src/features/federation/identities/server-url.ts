export interface UrlRules {
  /** Plain http is for laboratories; elsewhere such an address counts as malformed. */
  readonly allowPlainHttp: boolean
}

const maxUrlLength = 2048
// The URL parser drops or repairs these, so two servers might read different addresses.
const repaired = /[\s\\\p{Cc}]/u

/** The base address of a server without a slash at the end, or undefined when it is malformed. */
export function parseServerUrl(text: string, rules: UrlRules): string | undefined {
  const url = parseHttpUrl(text, rules)
  if (!url || text.includes('?')) return undefined
  return url.origin + url.pathname.replace(/\/+$/, '')
}

/** The address of an inbox, or undefined when it is malformed. */
export function parseInboxUrl(text: string, rules: UrlRules): string | undefined {
  return parseHttpUrl(text, rules)?.href
}

function parseHttpUrl(text: string, { allowPlainHttp }: UrlRules): URL | undefined {
  if (text.length > maxUrlLength || repaired.test(text) || text.includes('#')) return undefined
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.protocol !== 'https:' && !allowPlainHttp) return undefined
  if (url.username !== '' || url.password !== '') return undefined
  return url.hostname.endsWith('.') ? undefined : url
}
