import { type IdTag, parseIdTag } from '../ids.ts'

// Letters with their marks, digits, and what stands in a word without being drawn: joiners, and places where it may or may
// not be broken.
const inName = String.raw`\p{L}\p{M}\p{N}\u00ad\u200b-\u200d\u2060\ufeff`
// With connectors; interpuncts only within (Unicode Standard Annex 31, XID_Continue).
const inTag = String.raw`(?:[${inName}\p{Pc}]|[\u00b7\u0387\u30fb\uff65](?=\p{L}))`
// Marks belong to what stands before them: those of an emoji or a keycap to no letter.
const afterLetter = String.raw`[\p{L}\p{N}_](?:(?![\ufe0e\ufe0f\u20e3])\p{M})*`

const hashTag = new RegExp(`(?<!${afterLetter}|[#&/])#(?=[\\p{L}\\p{N}_])(${inTag}+)`, 'gu')
const atName = new RegExp(`(?<!${afterLetter}|[.@/-])@([${inName}-]+(?:\\.[${inName}-]+)+)`, 'gu')
// A host of ASCII ends where a letter of another script follows, as the particle of a language without spaces.
const asciiEnd = new RegExp(
  String.raw`^(?:[${inName}-]+\.)+[a-z][a-z\d-]*[a-z\d](?=[^\p{ASCII}\p{sc=Latn}\p{M}])`,
  'iu',
)

/** Where something stands in a text, in UTF-16 units. */
interface Place {
  readonly from: number
  readonly to: number
}

const maxTagLength = 64
// In UTF-16 code units, with the invisible characters that the 64 do not count: it bounds the work for one tag.
const maxTagUnits = 1024

// An emoji may be several, joined, or a letter in another look: without that it would be another one.
const emoji = String.raw`\p{Extended_Pictographic}[\p{Emoji_Modifier}\ufe0f\u{e0020}-\u{e007f}]*`
const inEmoji = String.raw`(?<=${emoji})[\u200d\ufe0f\u{e0020}-\u{e007f}]`
// Joiners change how letters are read, but not those of these scripts.
const plainLetter = String.raw`[\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{sc=Hebr}\p{scx=Zyyy}][\p{M}\u200c\u200d]*`
const notDrawn = new RegExp(String.raw`(?!${inEmoji}|[\u200c\u200d])\p{DI}`, 'gu')
const idleJoiners = new RegExp(String.raw`(?<=${plainLetter})(?!${inEmoji})[\u200c\u200d]+`, 'gu')
const around = /^[\s\u200c\u200d]+|(?<![\s\u200c\u200d])[\s\u200c\u200d]+$/gu
const drawn = /[^\p{White_Space}\p{M}\p{Cc}\p{Cf}\p{Cs}\u2800]/u

/** A tag as it is stored and compared: composed (NFC), without invisible characters and without space around it; case counts.
 * Undefined for more than 64 characters, for text without a visible one, and for control characters. */
export function parseTag(text: string): string | undefined {
  if (text.length > maxTagUnits || !text.isWellFormed()) return undefined
  const tag = text.replace(notDrawn, '').replace(idleJoiners, '').replace(around, '').normalize('NFC')
  return [...tag].length <= maxTagLength && drawn.test(tag) && !/\p{Cc}/u.test(tag) ? tag : undefined
}

/** Each `#tag` of a text, in its order. */
export function findTags(text: string): (Place & { readonly tag: string })[] {
  if (!text.includes('#')) return []
  return [...text.matchAll(hashTag)].flatMap(({ 0: written, 1: name = '', index }) => {
    const tag = parseTag(name)
    return tag === undefined ? [] : [{ tag, from: index, to: index + written.length }]
  })
}

/** Each `@name` of a text that may be an identity, in its order. */
export function* findMentions(text: string): Generator<Place & { readonly idTag: IdTag }> {
  if (!text.includes('@')) return
  for (const { 1: written = '', index } of text.matchAll(atName)) {
    const name = asciiEnd.exec(written)?.[0] ?? written
    const idTag = parseIdTag(name)
    if (idTag) yield { idTag, from: index, to: index + 1 + name.length }
  }
}
