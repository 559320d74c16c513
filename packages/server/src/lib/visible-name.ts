import { invalid } from './failure.ts'

const usualLength = 100

// Control characters, ends of lines, and what turns the direction of the text around a name.
const unfit = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u
// Something must be drawn: a mark needs a letter to stand on, and the blank of Braille is one.
const drawn = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{M}\p{C}\u2800]/u

/** One line of visible text, as people call themselves and their things. */
export function isVisibleName(name: string, maxLength = usualLength): boolean {
  return [...name].length <= maxLength && name.isWellFormed() && !unfit.test(name) && drawn.test(name)
}

// A text has lines, and marks that text from right to left needs; it begins no other direction.
const unfitInText = /[^\P{Cc}\t\n\r]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

/** Visible text of any length, as people describe things. */
export function isVisibleText(text: string): boolean {
  return text.isWellFormed() && !unfitInText.test(text) && drawn.test(text)
}

/** The name as it is kept: composed (NFC), without spaces around it. `E-VALIDATION` at `path` for what is no visible
 * text. */
export function acceptName(name: string, path = '/name', maxLength = usualLength): string {
  const kept = tidyName(name)
  if (!isVisibleName(kept, maxLength))
    throw invalid(path, `must be visible text of at most ${maxLength} characters`)
  return kept
}

export function tidyName(name: string): string {
  return name.normalize('NFC').trim()
}

/** What is left of a name without what no name has. */
export function withoutUnfit(name: string): string {
  return name.toWellFormed().replaceAll(new RegExp(unfit, 'gu'), '')
}
