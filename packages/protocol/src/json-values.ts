/** Any object of JSON. Its members are read by `memberOf`: names such as `__proto__` are plain keys. */
type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object's own member, never one that it inherits. */
export function memberOf(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** An object whose members are all its own: assigning `__proto__` to it makes a member. */
export function plainObject(members: JsonObject = {}): Record<string, unknown> {
  const object: Record<string, unknown> = Object.create(null)
  for (const name of Object.keys(members)) object[name] = members[name]
  return object
}

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
export function kindOf(value: unknown): number {
  if (value === undefined) return 0
  if (typeof value === 'string') return 1
  if (typeof value === 'number') return 2
  if (Array.isArray(value)) return 3
  if (value === false) return 4
  if (value === null) return 5
  return value === true ? 6 : 7
}

/** The order of docs/protocol/realtime.md: negative when `a` comes before `b`. `undefined` stands for an absent field. */
export function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  const kind = kindOf(a)
  const difference = kind - kindOf(b)
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
