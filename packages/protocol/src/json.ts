/** Nothing in the protocol is deep, and recursion over deeper values is how stacks overflow. */
export const maxJsonDepth = 64

/** Why bytes are no JSON that is taken from outside. */
export type JsonProblem = 'encoding' | 'depth' | 'syntax' | ValueProblem

type ValueProblem = 'nul' | 'surrogate' | 'number'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads JSON from outside: UTF-8, nested at most `maxJsonDepth` levels, without the character U+0000, which nothing a
 * person writes contains and not every database can store, without halves of characters, which all become the same
 * one where bytes are made of them, and without numbers that no double holds, which would be written as `null`. */
export function readJson(
  bytes: Uint8Array,
  parse: (text: string) => unknown = JSON.parse,
): { readonly value: unknown } | { readonly problem: JsonProblem } {
  const text = decode(bytes)
  if (text === undefined) return { problem: 'encoding' }
  if (isDeeperThan(bytes, maxJsonDepth)) return { problem: 'depth' }
  try {
    const value = parse(text)
    const problem = mayHoldProblems.test(text) ? problemIn(value) : undefined
    return problem ? { problem } : { value }
  } catch {
    return { problem: 'syntax' }
  }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

const quote = 0x22
const backslash = 0x5c

/** Counts brackets outside of strings. */
function isDeeperThan(bytes: Uint8Array, limit: number): boolean {
  let depth = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === quote) at = endOfString(bytes, at)
    else if (byte === 0x7b || byte === 0x5b) depth += 1
    else if (byte === 0x7d || byte === 0x5d) depth -= 1
    if (depth > limit) return true
  }
  return false
}

function endOfString(bytes: Uint8Array, start: number): number {
  let end = bytes.indexOf(quote, start + 1)
  while (end !== -1 && isEscaped(bytes, end)) end = bytes.indexOf(quote, end + 1)
  return end === -1 ? bytes.length : end
}

function isEscaped(bytes: Uint8Array, at: number): boolean {
  let backslashes = 0
  while (bytes[at - 1 - backslashes] === backslash) backslashes += 1
  return backslashes % 2 === 1
}

// Of text both come by escapes alone: the bytes are good UTF-8, and JSON takes no bare control characters. Too large is
// what has an exponent or more than 308 digits.
const mayHoldProblems = /\\u(?:0000|d[89a-f])|\de\+?\d|\d{309}/i

function problemIn(value: unknown): ValueProblem | undefined {
  if (typeof value === 'string') return problemOf(value)
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'number'
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const problem = problemOf(name) ?? problemIn(member)
    if (problem) return problem
  }
  return undefined
}

/** Has a parsed value a number that no double holds? It was read as infinity, and would be written as `null`. It goes down by
 * recursion: the depth has to be checked before. */
export function hasLargeNumber(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(hasLargeNumber)
}

function problemOf(text: string): ValueProblem | undefined {
  if (text.includes('\0')) return 'nul'
  return text.isWellFormed() ? undefined : 'surrogate'
}
