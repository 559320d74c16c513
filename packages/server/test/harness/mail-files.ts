import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A mail as its reader sees it. */
export interface ReadMail {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** The mails that a server without a mail server has written, oldest first; in any order where they are of one moment. */
export async function readMails(directory: string): Promise<ReadMail[]> {
  // A mail that is still being written has another name.
  const names = (await readdir(directory).catch(() => [])).filter((name) => name.endsWith('.eml'))
  const sources = await Promise.all(names.sort().map((name) => readFile(join(directory, name), 'utf8')))
  return sources.map(parseMail)
}

/** The first link in the text of a mail. */
export function linkIn({ text }: Pick<ReadMail, 'text'>): string {
  const [link] = /https?:\/\/\S+/.exec(text) ?? []
  if (link === undefined) throw new Error(`There is no link in: ${text}`)
  return link
}

function parseMail(source: string): ReadMail {
  const { headers, body } = split(source)
  const [, boundary = ''] = /boundary="?([^";\n]+)/.exec(headers.get('content-type') ?? '') ?? []
  const parts = body.split(`--${boundary}`).map((part) => split(part.replace(/^\n/, '')))
  const partOf = (type: string) => {
    const part = parts.find((candidate) => candidate.headers.get('content-type')?.startsWith(type))
    return part ? decode(part.body, part.headers.get('content-transfer-encoding')) : ''
  }
  return {
    to: headers.get('to') ?? '',
    subject: decodeWords(headers.get('subject') ?? ''),
    text: partOf('text/plain'),
    html: partOf('text/html'),
  }
}

function split(source: string): { headers: Map<string, string>; body: string } {
  const end = source.indexOf('\n\n')
  const unfolded = source.slice(0, Math.max(end, 0)).replace(/\n[ \t]+/g, ' ')
  const lines = unfolded.split('\n').map((line) => line.split(/:(.*)/s))
  const headers = new Map(lines.map(([name = '', value = '']) => [name.toLowerCase(), value.trim()]))
  return { headers, body: source.slice(end + 2) }
}

function decode(body: string, encoding: string | undefined): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8')
  return encoding === 'quoted-printable' ? unquote(body.replace(/=\n/g, '')) : body
}

function unquote(text: string): string {
  const bytes = text.replace(/=([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

/** Encoded words of RFC 2047. */
function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(word, 'base64').toString('utf8')
        : unquote(word.replaceAll('_', ' ')),
    )
}
