const usualLength = 100
const maxFileNameLength = 255

// Control characters, ends of lines, and what turns the direction of the text around a name.
const unfit = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu
// Something must be drawn: a mark needs a letter to stand on, and the blank of Braille is one.
const drawn = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{M}\p{C}\u2800]/u

/** One line of visible text, as people call themselves and their things. */
export function isVisibleName(name: string, maxLength = usualLength): boolean {
  return [...name].length <= maxLength && name.isWellFormed() && name.search(unfit) < 0 && drawn.test(name)
}

/** A name as it is kept: composed (NFC), without spaces around it. */
export function tidyName(name: string): string {
  return name.normalize('NFC').trim()
}

// A text has lines, and marks that text from right to left needs; it begins no other direction.
const unfitInText = /[^\P{Cc}\t\n\r]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

/** Visible text of any length, as people describe things. */
export function isVisibleText(text: string): boolean {
  return text.isWellFormed() && !unfitInText.test(text) && drawn.test(text)
}

const slashes = /[/\\]/gu

/** The name of a file or folder as it is stored: 1–255 characters of visible text, no slashes, not `.` or `..`; undefined
 * for anything else. No file on the disk of the server is called by it. */
export function parseFileName(text: string): string | undefined {
  const name = tidyName(text)
  const isName = isVisibleName(name, maxFileNameLength) && name.search(slashes) < 0 && !/^\.\.?$/.test(name)
  return isName ? name : undefined
}

/** A name that was given elsewhere, on a device or before, as far as it can be one here; `otherwise` where nothing is left
 * of it. */
export function respellFileName(text: string, otherwise: string): string {
  const begin = text.slice(0, 4 * maxFileNameLength).toWellFormed()
  const fit = tidyName(begin.replace(unfit, '').replace(slashes, '_'))
  return parseFileName([...fit].slice(0, maxFileNameLength).join('')) ?? otherwise
}
