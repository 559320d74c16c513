import { parseIdTag } from '@kith/protocol'

/** An address with the name shown beside it. */
export interface Mailbox {
  readonly name: string | undefined
  readonly address: string
}

const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const localPart = new RegExp(`^${atom}(?:\\.${atom})*$`)
const unsafeInName = /[\p{Cc}<>@"\\]/u

/** A plain `local@domain` with the domain in lower case and A-labels; undefined for everything that a mail library could
 * read as more than one address, as a name or as a comment. Quoted local parts and address literals are not taken. */
export function parseMailAddress(text: string): string | undefined {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, Math.max(at, 0))
  // Mail programs would decode it (RFC 2047) and show another address.
  const isEncodedWord = local.includes('=?')
  if (local.length > 64 || isEncodedWord || !localPart.test(local)) return undefined
  const host = text.slice(at + 1)
  const domain = host === 'localhost' ? host : parseIdTag(host)
  return domain && local.length + 1 + domain.length <= 254 ? `${local}@${domain}` : undefined
}

/** The mailbox that an address most likely reaches, whichever of its spellings it is. Only for counting what is sent
 * there: a few providers tell apart what is the same here. `address` as `parseMailAddress` answers it. */
export function canonicalMailbox(address: string): string {
  const at = address.lastIndexOf('@')
  const domain = address.slice(at + 1)
  // What stands behind a plus is the reader's own; some providers take no notice of dots.
  const [name = ''] = address.slice(0, at).toLowerCase().replaceAll('.', '').split('+')
  return `${name}@${domain === 'googlemail.com' ? 'gmail.com' : domain}`
}

/** `address` or `Name <address>`. */
export function parseMailbox(text: string): Mailbox | undefined {
  const trimmed = text.trim()
  const bracket = trimmed.endsWith('>') ? trimmed.indexOf('<') : -1
  const address = parseMailAddress(bracket === -1 ? trimmed : trimmed.slice(bracket + 1, -1))
  const name = bracket === -1 ? '' : trimmed.slice(0, bracket).trim()
  if (!address || name.length > 100 || unsafeInName.test(name)) return undefined
  return { name: name === '' ? undefined : name, address }
}
