/** The order and equality of JSON values in databases (docs/protocol/realtime.md, Order and equality). */

/** JSON in which equal values have equal texts: members are sorted by name. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value) ?? 'null'
  const members = Object.keys(value)
    .sort(compareTexts)
    .map((name) => `${JSON.stringify(name)}:${canonicalText(value[name])}`)
  return `{${members.join(',')}}`
}

/** By UTF-16 code units. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** The kinds of values in the order that their JSON texts have by their first characters, so that the order of all
 * values is one order. Absent values come first. */
export function valueKind(value: unknown): number {
  if (value === undefined) return 0
  if (typeof value === 'string') return 1
  if (typeof value === 'number') return 2
  if (Array.isArray(value)) return 3
  if (value === false) return 4
  if (value === null) return 5
  return value === true ? 6 : 7
}

/** The order of values (docs/protocol/realtime.md, Order and equality): negative when `a` comes before `b`. `undefined` stands for an absent field. */
export function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  const kind = valueKind(a)
  const difference = kind - valueKind(b)
  if (difference !== 0) return difference
  if (kind === 1) return compareTexts(a as string, b as string)
  if (kind === 2) return (a as number) - (b as number)
  return kind === 3 || kind === 7 ? compareTexts(canonicalText(a), canonicalText(b)) : 0
}

/** By structure: the order of members does not matter, and 1 is 1.0. */
export function isEqualValue(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  return canonicalText(a) === canonicalText(b)
}

function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
