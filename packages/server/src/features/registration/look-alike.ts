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

// Latin letters that NFKD leaves as they are, pairs that are drawn like one letter, and digits.
const drawnLike: Readonly<Record<string, string>> = {
  ...{
    ı: 'i',
    ɩ: 'i',
    ł: 'l',
    ƚ: 'l',
    ø: 'o',
    đ: 'd',
    ħ: 'h',
    ŧ: 't',
    ƀ: 'b',
    ɑ: 'a',
    ɡ: 'g',
    ŋ: 'n',
    ʋ: 'v',
  },
  ...{ rn: 'm', vv: 'w', '0': 'o', '5': 's' },
}
const drawn = new RegExp(Object.keys(drawnLike).join('|'), 'gu')

/** What a label looks like without accents, digits and hyphens; two readings, for a `1` is an `l` or an `i`. */
export function readingsOf(label: string): string[] {
  const written = label.startsWith('xn--') ? domainToUnicode(label) : label
  const bare = written.normalize('NFKD').replace(/[\p{M}-]/gu, '')
  const plain = bare.replace(drawn, (part) => drawnLike[part] ?? part)
  return [label, bare, plain.replaceAll('1', 'l'), plain.replaceAll('1', 'i')]
}
