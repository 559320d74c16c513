// Code points, about two lines on a phone: what is read as one character may have any number of them.
const previewLength = 160

// A joiner behind what it joins, in words and in emoji.
const joiner = String.raw`(?<=[\p{L}\p{M}\p{Emoji}])[\u200C\u200D]`
// Which region a flag is of (UTS 51).
const region = String.raw`(?<=\u{1F3F4})[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{3,6}\u{E007F}`
// They turn what stands around them, or say something that nobody sees.
const showsNothing = String.raw`[[\p{Cf}\p{Cn}]&&\p{Default_Ignorable_Code_Point}]`
const foreign = String.raw`[\p{Co}\p{Noncharacter_Code_Point}]`
const unseen = new RegExp(`(${joiner}|${region})|${showsNothing}|${foreign}`, 'gv')

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** A text without controls, turns of direction and line breaks. */
export function inOneLine(text: string): string {
  return text
    .replace(unseen, '$1')
    .replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ')
    .trim()
}

/** The begin of a text, with an ellipsis where it goes on; not cut within what is read as one character. */
export function shortened(text: string): string {
  const characters = [...text]
  if (characters.length <= previewLength) return text
  let kept = ''
  let length = 1
  for (const { segment } of graphemes.segment(text)) {
    length += [...segment].length
    if (length > previewLength) break
    kept += segment
  }
  // One that alone is too long is a letter under a heap of marks.
  return `${kept === '' ? characters.slice(0, previewLength - 1).join('') : kept}…`
}
