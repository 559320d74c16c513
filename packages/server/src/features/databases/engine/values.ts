/** Any object of JSON. Its members are read by `memberOf`: names such as `__proto__` are plain keys. */
export type JsonObject = Readonly<Record<string, unknown>>

/** A document as it is read: with its `id`. */
export type ReadDocument = JsonObject & { readonly id: string }

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

/** Levels of objects and arrays that any value may have: what goes through values is recursive. */
export const maxDepth = 64

export function isTooDeep(value: unknown, depth = maxDepth): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth === 0 || Object.values(value).some((member) => isTooDeep(member, depth - 1))
}

/** Are two values of JSON equal (docs/protocol/realtime.md, Order and equality)? It makes no texts of them. */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((element, index) => isSameValue(element, b[index]))
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSameValue(a[name], b[name]))
  )
}
