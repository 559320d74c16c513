import { scrub } from './hide-secrets.ts'

const secretParameters = new Set(['token', 'apikey', 'ref', 'refid', 'secret', 'password', 'code'])
const maxLength = 2000

/** A request target or URL as it may be logged: without the values of parameters that are credentials, without user
 * information and reference ids, and not longer than anybody reads. */
export function safeUrl(url: string): string {
  const cut = url.indexOf('?')
  if (cut === -1) return shorten(scrub(url))
  const query = url.slice(cut + 1, cut + 1 + maxLength).split('&')
  return shorten(`${scrub(url.slice(0, cut))}?${query.map(safeParameter).join('&')}`)
}

function safeParameter(pair: string): string {
  const [encodedName = ''] = pair.split('=', 1)
  return secretParameters.has(decode(encodedName).toLowerCase().replaceAll('_', ''))
    ? `${encodedName}=[hidden]`
    : scrub(pair)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' ')).trim()
  } catch {
    return text
  }
}

function shorten(text: string): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`
}
