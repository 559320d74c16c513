import { decodeBase64Url, encodeBase64Url } from './base64url.ts'
import { readJson } from './json.ts'

/** Where a page ended: sort field `s`, value `v` of the last row there, and its id. */
export interface Cursor {
  readonly s: string
  readonly v: string | number | null
  readonly id: string | number
}

// A sort value is at most a file name; anything larger was not made here.
const maxCursorLength = 2048

/** base64url of the JSON `{s, v, id}`. */
export function encodeCursor(cursor: Cursor): string {
  return encodeBase64Url(
    new TextEncoder().encode(JSON.stringify({ s: cursor.s, v: cursor.v, id: cursor.id })),
  )
}

/** The cursor that `text` encodes, or undefined when it is malformed or was made for another sort order. */
export function decodeCursor(text: string, sort: string): Cursor | undefined {
  if (text.length > maxCursorLength) return undefined
  const bytes = decodeBase64Url(text)
  const read = bytes && readJson(bytes)
  if (!read || 'problem' in read) return undefined
  const { value } = read
  return isCursor(value) && value.s === sort ? { s: value.s, v: value.v, id: value.id } : undefined
}

function isCursor(value: unknown): value is Cursor {
  if (typeof value !== 'object' || value === null) return false
  const { s, v, id } = value as Record<string, unknown>
  return (
    typeof s === 'string' &&
    (v === null || typeof v === 'string' || isFiniteNumber(v)) &&
    (typeof id === 'string' || isFiniteNumber(id))
  )
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}
