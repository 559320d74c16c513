import { createHash } from 'node:crypto'
import { canonicalText, valueKind } from '@kith/protocol'

// Both databases compare texts by their UTF-8 bytes, which is the order of code points. The protocol's order is that of
// UTF-16 code units, where characters beyond U+FFFF come before U+E000. Moving the two ranges past each other makes
// one order of the other.
const hasMoved = /[\ud800-\uffff]/
const movedCharacters = /[\ue000-\u{10ffff}]/gu

/** A text whose UTF-8 bytes have the order that the code units of `text` have. It has to be well-formed. */
export function sortableText(text: string): string {
  if (!hasMoved.test(text)) return text
  return text.replace(movedCharacters, (character) => {
    const code = character.codePointAt(0) ?? 0
    return String.fromCodePoint(code >= 0x10000 ? code - 0x2000 : code + 0x100000)
  })
}

/** The text that `sortableText` made this of. */
export function originalText(sortable: string): string {
  if (!hasMoved.test(sortable)) return sortable
  return sortable.replace(movedCharacters, (character) => {
    const code = character.codePointAt(0) ?? 0
    return String.fromCodePoint(code >= 0x10e000 ? code - 0x100000 : code + 0x2000)
  })
}

// PostgreSQL has no index entries beyond 2704 bytes, and a path may have 8 KB.
const longestPathKeyBytes = 1024

/** What stands for the path of a collection in keys: the path itself, or where that is long, its hash. */
export function collectionKey(path: string): string {
  if (Buffer.byteLength(path) <= longestPathKeyBytes) return path
  // No path has this character.
  return `\u0001${createHash('sha256').update(path).digest('base64url')}`
}

// Characters of a value that its key has. Values that differ only beyond have the same key.
const keyCharacters = 128
const numberBytes = new DataView(new ArrayBuffer(8))

/** A text that has the place among others which the value has among values (`compareValues`), at most 520 bytes in UTF-8.
 * Long values that differ late have the same. Undefined where the value cannot be kept: nothing equals it. */
export function valueKey(value: unknown): string | undefined {
  const kind = valueKind(value)
  if (kind === 2) return `2${numberKey(value as number)}`
  if (kind !== 1 && kind !== 3 && kind !== 7) return String(kind)
  const text = kind === 1 ? (value as string) : canonicalText(value)
  if (!text.isWellFormed()) return undefined
  return `${kind}${firstCharacters(sortableText(escapeNul(text.slice(0, 2 * keyCharacters))))}`
}

/** Was a longer key cut to this one? Then values that differ may have it. */
export function isCutKey(key: string): boolean {
  return key.length > keyCharacters
}

// PostgreSQL takes no U+0000 in texts.
function escapeNul(text: string): string {
  return text.replaceAll('\u0001', '\u0001\u0002').replaceAll('\0', '\u0001\u0001')
}

function firstCharacters(text: string): string {
  if (text.length <= keyCharacters) return text
  return Array.from(text).slice(0, keyCharacters).join('')
}

/** The bits of the number, in hexadecimal: positive ones behind negative ones, and those the other way round. */
function numberKey(value: number): string {
  // -0 is 0.
  numberBytes.setFloat64(0, value + 0)
  const bits = numberBytes.getBigUint64(0)
  const sortable = bits >> 63n ? ~bits & 0xffffffffffffffffn : bits | (1n << 63n)
  return sortable.toString(16).padStart(16, '0')
}

/** Elements of an array that have entries in an index. Of a longer array an entry says only that it is long. */
const maxElements = 1000
const manyElements = 'e*'

/** The keys of a document's entries in an index of a field: one for the value, which may be absent, and one for each
 * element of an array. */
export function entryKeys(value: unknown): string[] {
  const keys = [`v${valueKey(value)}`]
  if (!Array.isArray(value)) return keys
  const elements = new Set(value.map(elementKey))
  if (elements.size > maxElements) return [...keys, manyElements]
  for (const element of elements) keys.push(element)
  return keys
}

export function elementKey(value: unknown): string {
  return `e${valueKey(value)}`
}

/** The keys by which a document is found that may have an element with one of `keys`. */
export function elementLookUps(keys: readonly string[]): string[] {
  return [...keys, manyElements]
}

/** The order that both databases give texts. */
export function compareKept(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b))
}
