import { Failure } from '#lib/failure.ts'

/** A part of a file, ends included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** What a `Range` header asks of a file (RFC 9110 section 14). Only one range of bytes is served: several, other units
 * and malformed headers are ignored, which answers the whole file. */
export function parseRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const match = header === undefined ? null : /^bytes=(\d*)-(\d*)$/i.exec(header.trim())
  if (!match) return 'whole'
  const [, first = '', last = ''] = match
  if (first === '' && last === '') return 'whole'
  if (first === '') return suffix(Number(last), size)
  const start = Number(first)
  const end = last === '' ? size - 1 : Number(last)
  if (last !== '' && end < start) return 'whole'
  return start < size ? { start, end: Math.min(end, size - 1) } : 'unsatisfiable'
}

function suffix(length: number, size: number): ByteRange | 'unsatisfiable' {
  if (length === 0 || size === 0) return 'unsatisfiable'
  return { start: Math.max(0, size - length), end: size - 1 }
}

/** The part that a GET is answered with; the whole where `If-Range` names other bytes (RFC 9110, 13.1.5). Throws `E-RANGE`. */
export function rangeOf(
  { range, 'if-range': ifRange }: { readonly range?: string; readonly 'if-range'?: string },
  etag: string,
  size: number,
): ByteRange | 'whole' {
  const parsed = ifRange === undefined || ifRange === etag ? parseRange(range, size) : 'whole'
  if (parsed === 'unsatisfiable') throw new Failure('E-RANGE', { details: { size } })
  return parsed
}
