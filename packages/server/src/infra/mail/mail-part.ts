/** A part of a mail as it goes over the line. */
export interface MailPart {
  readonly raw: string
}

// Without its end (RFC 5322 section 2.1.1).
const longestLineBytes = 998
const ascii = /^\p{ASCII}*$/u

/** The text of a mail with its lines as they are: quoted-printable would break a link over two of them. A text whose lines no
 * server has to take is left to the library. */
export function textPart(text: string): MailPart | string {
  return partOf('text/plain', text)
}

/** The same of HTML, in ASCII. */
export function htmlPart(html: string): MailPart | string {
  const plain = html.replaceAll(/\P{ASCII}/gu, (character) => `&#${character.codePointAt(0)};`)
  return partOf('text/html', plain)
}

function partOf(type: string, text: string): MailPart | string {
  const lines = text.split('\n')
  if (lines.some((line) => Buffer.byteLength(line) > longestLineBytes) || /[\r\0]/.test(text)) return text
  const encoding = ascii.test(text) ? '7bit' : '8bit'
  const head = [`Content-Type: ${type}; charset=utf-8`, `Content-Transfer-Encoding: ${encoding}`]
  return { raw: [...head, '', ...lines].join('\n') }
}
