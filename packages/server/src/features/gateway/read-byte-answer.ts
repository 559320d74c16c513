import { Readable } from 'node:stream'
import { parseFileName } from '@kith/protocol'
import { parseRange, servingHeaders } from '#features/files/index.ts'
import type { EgressStream } from '#infra/egress/index.ts'
import type { ByteReply } from '#infra/http/index.ts'
import { typeWithoutBytes } from '#infra/media/index.ts'
import { badAnswer } from './bad-answer.ts'

/** What was asked for. */
export interface ByteQuestion {
  readonly range: string | undefined
  readonly forceDownload: boolean
}

const etagForm = /^"[\x21\x23-\x7e]{1,128}"$/

/** Bytes that another server answered, with the headers of our own files: nothing of theirs but type, name, length, range and
 * tag, each in its form. */
export function readByteAnswer(answer: EgressStream, asked: ByteQuestion): ByteReply {
  const { status, headers, body } = answer
  if (status !== 200 && status !== 206 && status !== 304) {
    body.destroy()
    throw badAnswer(`HTTP ${status} for bytes`)
  }
  const part = status === 206 ? partOf(headers, asked.range) : undefined
  if (status === 206 && !part) {
    body.destroy()
    throw badAnswer('another range than was asked for')
  }
  const reply = { status, headers: { ...headersOf(headers, asked), ...lengthOf(headers, part) } } as const
  const length = reply.headers['content-length']
  if (status !== 304)
    return { ...reply, body: async () => (length === undefined ? body : exactly(body, Number(length))) }
  body.destroy()
  return reply
}

/** Fails where the body has another length than was said, so that the client never takes it for the whole. */
function exactly(body: Readable, bytes: number): Readable {
  const checked = Readable.from(counted(body, bytes), { objectMode: false })
  return checked.once('close', () => body.destroy())
}

async function* counted(body: Readable, bytes: number): AsyncGenerator<Uint8Array> {
  let left = bytes
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    left -= chunk.byteLength
    if (left < 0) throw badAnswer('more bytes than were said')
    yield chunk
  }
  if (left > 0) throw badAnswer('fewer bytes than were said')
}

function headersOf(
  headers: EgressStream['headers'],
  { forceDownload }: ByteQuestion,
): Record<string, string> {
  const { etag: tag } = headers
  const { etag, ...served } = servingHeaders({
    contentType: harmless(typeWithoutBytes(headers['content-type'])),
    fileName: fileNameOf(headers['content-disposition']),
    etag: tag !== undefined && etagForm.test(tag) ? tag : '',
    caching: 'private',
    forceDownload: forceDownload || /^\s*attachment/i.test(headers['content-disposition'] ?? ''),
  })
  const takesRanges = headers['accept-ranges'] === 'bytes' ? 'bytes' : 'none'
  return { ...served, 'accept-ranges': takesRanges, ...(etag ? { etag } : {}) }
}

// Pages, scripts and styles of other servers must not run in this origin, however they are embedded. SVG is left: shown as an
// image it runs no scripts, and opened by itself it is saved.
const active = /html|script|css|xml/
const picture = 'image/svg+xml'

function harmless(contentType: string): string {
  return active.test(contentType) && contentType !== picture ? 'application/octet-stream' : contentType
}

/** The client of an answer with a length sees when it breaks off; one without comes in chunks, and breaks as well. */
function lengthOf(
  { 'content-length': length }: EgressStream['headers'],
  part: Part | undefined,
): Record<string, string> {
  if (part) {
    const { start, end, size } = part
    return { 'content-length': `${end - start + 1}`, 'content-range': `bytes ${start}-${end}/${size}` }
  }
  return length !== undefined && /^\d{1,15}$/.test(length) ? { 'content-length': length } : {}
}

interface Part {
  readonly start: number
  readonly end: number
  readonly size: number
}

/** The part that the answer says it is, if it is the one that was asked for. */
function partOf(headers: EgressStream['headers'], asked: string | undefined): Part | undefined {
  const said = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(headers['content-range'] ?? '')
  if (!said) return undefined
  const [start = 0, end = 0, size = 0] = said.slice(1).map(Number)
  const wanted = parseRange(asked, size)
  if (typeof wanted === 'string' || wanted.start !== start || wanted.end !== end) return undefined
  const length = headers['content-length']
  return Number(length) === end - start + 1 ? { start, end, size } : undefined
}

/** The name of RFC 6266: the extended one, else the plain one. */
function fileNameOf(disposition = ''): string {
  const extended = /;\s*filename\*=UTF-8''([\w%.!#$&+^`|~-]{1,1024})/i.exec(disposition)?.[1]
  const plain = /;\s*filename="([^"\\]{1,255})"/i.exec(disposition)?.[1]
  const name = (extended === undefined ? undefined : decoded(extended)) ?? plain
  return parseFileName(name ?? '') ?? 'file'
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
