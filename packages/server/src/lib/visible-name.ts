import { invalid } from './failure.ts'

const maxLength = 100

// Control characters, ends of lines, and what turns the direction of the text around a name.
const unfit = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u
// Something must be drawn: a mark needs a letter to stand on, and the blank of Braille is one.
const drawn = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{M}\p{C}\u2800]/u

/** One line of visible text, as people call themselves and their things. */
export function isVisibleName(name: string): boolean {
  return [...name].length <= maxLength && name.isWellFormed() && !unfit.test(name) && drawn.test(name)
}

/** The name as it is kept, without spaces around it. `E-VALIDATION` at `path` for what is no visible text. */
export function acceptName(name: string, path = '/name'): string {
  const trimmed = name.trim()
  if (!isVisibleName(trimmed)) throw invalid(path, `must be visible text of at most ${maxLength} characters`)
  return trimmed
}
