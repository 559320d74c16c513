import { type IdTag, parseIdTag } from '../ids.ts'

// What words, tags and names consist of: letters with their marks, digits, connectors, and what stands in a word without
// being drawn: joiners, and places where it may or may not be broken (Unicode Standard Annex 31, XID_Continue).
const inWord = String.raw`\p{XIDC}\p{M}\p{N}\u00ad\u200b-\u200d\u2060\ufeff`
// A mark belongs to what stands before it: that of an emoji is no letter.
const afterLetter = String.raw`[\p{L}\p{N}_]\p{M}*`

const hashTag = new RegExp(`(?<!${afterLetter}|[#&/])#(?=[\\p{L}\\p{N}_])([${inWord}]+)`, 'gu')
const atName = new RegExp(`(?<!${afterLetter}|[.@/-])@([${inWord}-]+(?:\\.[${inWord}-]+)+)`, 'gu')
// A host of ASCII ends where a letter of another script follows, as the particle of a language without spaces.
const asciiEnd = new RegExp(
  String.raw`^(?:[${inWord}-]+\.)+[a-z][a-z\d-]*[a-z\d](?=[^\p{ASCII}\p{sc=Latn}\p{M}])`,
  'iu',
)

/** Where something stands in a text, in UTF-16 units. */
interface Place {
  readonly from: number
  readonly to: number
}

const maxTagLength = 64

// Joiners change how letters of these scripts are not read.
const idleJoiners = /(?<=[\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{sc=Hebr}\p{scx=Zyyy}])[\u200c\u200d]+/gu
const outerJoiners = /^[\u200c\u200d]+|[\u200c\u200d]+$/gu
const notDrawn = /(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}/gu
const drawn = /[^\p{White_Space}\p{M}\p{C}\u2800]/u

/** A tag as it is kept and compared: composed (NFC), without what is not drawn and without space around it; case counts.
 * Undefined for what is none: more than 64 characters, nothing visible, control characters. */
export function parseTag(text: string): string | undefined {
  if (!text.isWellFormed()) return undefined
  const shown = text.normalize('NFC').replace(notDrawn, '').replace(idleJoiners, '')
  const tag = shown.replace(outerJoiners, '').trim()
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
