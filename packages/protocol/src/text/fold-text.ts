// Of these scripts marks are accents, which people leave out when they search. In others they are letters: vowels of
// Devanagari and Thai, the difference between ハ and パ. On digits and signs they are decoration.
const accented = String.raw`[\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{sc=Arab}\p{sc=Hebr}\p{scx=Zyyy}]`
const accents = new RegExp(String.raw`((?!\p{M})${accented})\p{M}+`, 'gu')

// Left out before text is compared: soft hyphens, joiners and marks of direction, which have no glyph; the tatweel (U+0640),
// which only makes words longer; the combining iota (U+0345), since upper case would make a letter of it.
const nothing = /[\u0345\u0640\p{Default_Ignorable_Code_Point}]/gu

// More belong to no letter. They are sorted one by one when text is normalized, which takes seconds for 50 000.
const manyMarks = /(\p{M}{32})\p{M}+/gu

// Letters that are no letter with a mark to Unicode, and are one to who types without them.
const baseLetters: Readonly<Record<string, string>> = {
  ...{ æ: 'ae', œ: 'oe', þ: 'th', ð: 'd', đ: 'd', ħ: 'h', ł: 'l', ø: 'o', ŧ: 't', ς: 'σ' },
}
const replaced = new RegExp(`[${Object.keys(baseLetters).join('')}]`, 'gu')

/** A text as it is compared and searched: two texts are spelt alike when this is the same. Without case (ß as ss, İ and ı
 * as i), without accents in the scripts that have them, without invisible characters; forms of one character
 * (full-width, ligatures, composed or not) are one. Folding a second time changes nothing. */
export function foldText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase()
  const bare = text.replace(manyMarks, '$1').normalize('NFKD').replace(nothing, '').replace(accents, '$1')
  // `ß` is `SS` in upper case (Unicode, SpecialCasing.txt): by way of that `ß` and `ss` become the same.
  const small = bare.toLowerCase().toUpperCase().toLowerCase()
  return small.replace(replaced, (letter) => baseLetters[letter] ?? letter).normalize('NFC')
}
