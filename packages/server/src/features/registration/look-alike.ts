import { domainToUnicode } from 'node:url'

// What one label may be written in: a script, or those that one language mixes.
const scripts: readonly RegExp[] = [
  /^\p{scx=Latin}+$/u,
  /^\p{scx=Greek}+$/u,
  /^\p{scx=Cyrillic}+$/u,
  /^\p{scx=Armenian}+$/u,
  /^\p{scx=Georgian}+$/u,
  /^\p{scx=Hebrew}+$/u,
  /^\p{scx=Arabic}+$/u,
  /^\p{scx=Devanagari}+$/u,
  /^\p{scx=Bengali}+$/u,
  /^\p{scx=Tamil}+$/u,
  /^\p{scx=Thai}+$/u,
  /^[\p{scx=Hangul}\p{scx=Han}]+$/u,
  /^[\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Han}]+$/u,
]

// Small letters of other scripts that most fonts draw like Latin ones.
const drawnLikeLatin = /^[аеорсухіјѕһӏԁԛԝѵοναικρυχ]+$/u

/** Is a label, in A-label form, made to be taken for another one: of letters of several scripts, or of letters of
 * another script that look like Latin ones throughout? */
export function isLookAlike(label: string): boolean {
  if (!label.startsWith('xn--')) return false
  const letters = domainToUnicode(label).replace(/\P{L}/gu, '')
  return !scripts.some((script) => script.test(letters)) || drawnLikeLatin.test(letters)
}

/** What a label looks like without its accents and digits; two readings, for a `1` is an `l` or an `i`. */
export function readingsOf(label: string): string[] {
  const written = label.startsWith('xn--') ? domainToUnicode(label) : label
  const plain = written.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('0', 'o')
  return [label, plain.replaceAll('1', 'l'), plain.replaceAll('1', 'i')]
}
