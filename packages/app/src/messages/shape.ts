/** Tells whether a value that came from another page is of a type. */
export type Guard<T> = (value: unknown) => value is T

export type Shape = Readonly<Record<string, Guard<unknown>>>

/** The object that has the members of a shape. */
export type ShapeOf<S extends Shape> = {
  readonly [Name in keyof S]: S[Name] extends Guard<infer T> ? T : never
}

/** A string of at most this many UTF-16 code units. */
export function text(maxLength: number): Guard<string> {
  return (value): value is string => typeof value === 'string' && value.length <= maxLength
}

export function word<Word extends string>(...words: readonly Word[]): Guard<Word> {
  return (value): value is Word => (words as readonly unknown[]).includes(value)
}

export function integer(min: number, max: number): Guard<number> {
  return (value): value is number =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
}

export function list<T>(item: Guard<T>, maxItems: number): Guard<readonly T[]> {
  return (value): value is readonly T[] =>
    Array.isArray(value) && value.length <= maxItems && value.every((element) => item(element))
}

export function optional<T>(guard: Guard<T>): Guard<T | undefined> {
  return (value): value is T | undefined => value === undefined || guard(value)
}

export function object<S extends Shape>(shape: S): Guard<ShapeOf<S>> {
  return (value): value is ShapeOf<S> => pick(shape, value) !== undefined
}

/** A message of a WebSocket. How long it may be depends on the socket. */
export function data(value: unknown): value is string | ArrayBuffer {
  return typeof value === 'string' || value instanceof ArrayBuffer
}

export function bytes(value: unknown): value is ArrayBuffer {
  return value instanceof ArrayBuffer
}

export function flag(value: unknown): value is boolean {
  return typeof value === 'boolean'
}

/** A new object with the members of the shape alone; undefined where one of them is of another type. */
export function pick<S extends Shape>(shape: S, value: unknown): ShapeOf<S> | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const given = value as Readonly<Record<string, unknown>>
  const picked: Record<string, unknown> = {}
  for (const [name, guard] of Object.entries(shape)) {
    const member = Object.hasOwn(given, name) ? given[name] : undefined
    if (!guard(member)) return undefined
    if (member !== undefined) picked[name] = member
  }
  return picked as ShapeOf<S>
}
