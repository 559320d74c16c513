import { capMarks } from './shown-text.ts'

/** The scripts of which one label may mix several: as the languages that are written so do. */
const mixtures: readonly RegExp[] = [
  /^[\p{sc=Latn}\p{sc=Zyyy}\p{sc=Zinh}]+$/u,
  /^[\p{sc=Latn}\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\p{sc=Zyyy}\p{sc=Zinh}]+$/u,
  /^[\p{sc=Latn}\p{sc=Hani}\p{sc=Hang}\p{sc=Zyyy}]+$/u,
  /^[\p{sc=Latn}\p{sc=Hani}\p{sc=Bopo}\p{sc=Zyyy}]+$/u,
  /^[\p{sc=Arab}\p{sc=Zyyy}\p{sc=Zinh}]+$/u,
  /^[\p{sc=Cyrl}\p{sc=Zyyy}\p{sc=Zinh}]+$/u,
  /^[\p{sc=Deva}\p{sc=Zyyy}\p{sc=Zinh}]+$/u,
  /^[\p{sc=Grek}\p{sc=Zyyy}\p{sc=Zinh}]+$/u,
  /^[\p{sc=Hebr}\p{sc=Zyyy}\p{sc=Zinh}]+$/u,
  /^[\p{sc=Thai}\p{sc=Zyyy}\p{sc=Zinh}]+$/u,
]

const letters = /^[\p{L}\p{M}\p{N}-]+$/u

// A label of these alone reads as Latin letters.
const latinLookalikes = /^[0-9\-аысԁеԍһіюкјӏорԗԛѕԝхуъьҽпгѵѡαικνοπρτυχγ]+$/u

/** An identity as it is shown: labels of another script are written in it, unless they mix scripts or read as Latin letters;
 * those stay A-labels. */
export function shownIdTag(idTag: string): string {
  return idTag.split('.').map(shownLabel).join('.')
}

function shownLabel(label: string): string {
  if (!label.startsWith('xn--')) return label
  const decoded = decodePunycode(label.slice(4))
  if (decoded === undefined || !letters.test(decoded)) return label
  if (!mixtures.some((mixture) => mixture.test(decoded))) return label
  return latinLookalikes.test(decoded) ? label : decoded
}

// RFC 3492, section 5.
const base = 36
const tMin = 1
const tMax = 26
const skew = 38
const damp = 700

/** The text of a Punycode label without its prefix (RFC 3492, section 6.2); undefined when it is none. */
export function decodePunycode(input: string): string | undefined {
  const cut = input.lastIndexOf('-')
  const output = [...input.slice(0, Math.max(cut, 0))].map((letter) => letter.codePointAt(0) ?? 0)
  let [n, i, bias, at] = [128, 0, 72, cut > 0 ? cut + 1 : 0]
  while (at < input.length) {
    const read = readDelta(input, at, bias)
    if (!read) return undefined
    const length = output.length + 1
    bias = adapt(read.delta, length, i === 0 && n === 128)
    at = read.next
    i += read.delta
    n += Math.floor(i / length)
    i %= length
    if (n > 0x10ffff) return undefined
    output.splice(i, 0, n)
    i += 1
  }
  return String.fromCodePoint(...output)
}

function readDelta(input: string, from: number, bias: number): { delta: number; next: number } | undefined {
  let [delta, weight, at] = [0, 1, from]
  for (let k = base; ; k += base) {
    const digit = digitOf(input.charCodeAt(at))
    if (digit === undefined) return undefined
    at += 1
    delta += digit * weight
    const threshold = Math.min(Math.max(k - bias, tMin), tMax)
    if (digit < threshold) return { delta, next: at }
    weight *= base - threshold
    // A label has 63 characters at most; what grows beyond this is no label.
    if (weight > 2 ** 40) return undefined
  }
}

function digitOf(code: number): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30 + 26
  if (code >= 0x61 && code <= 0x7a) return code - 0x61
  return undefined
}

function adapt(delta: number, length: number, isFirst: boolean): number {
  let left = Math.floor(delta / (isFirst ? damp : 2))
  left += Math.floor(left / length)
  let k = 0
  while (left > ((base - tMin) * tMax) / 2) {
    left = Math.floor(left / (base - tMin))
    k += base
  }
  return k + Math.floor(((base - tMin + 1) * left) / (left + skew))
}

/** A name as it is shown: without what nobody sees, with few marks on a letter; the identity where nothing is left. */
export function shownName(name: string | undefined, idTag: string): string {
  const cleaned = (name ?? '')
    .replaceAll(/[\p{Cc}\u200b\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu, '')
    .trim()
  return cleaned === '' ? shownIdTag(idTag) : capMarks(cleaned)
}
