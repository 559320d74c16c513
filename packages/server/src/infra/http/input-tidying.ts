import { isMembers, itemOf, type Members, type Schema } from './input-schema.ts'

type Tidying = (value: unknown) => void

/** Makes the function that adds defaults and removes members that the schema does not name, in place, unless it says that
 * there may be none. Undefined where there is nothing to do. */
export function tidyingOf(schema: Schema): Tidying | undefined {
  const { anyOf, properties } = schema
  if (anyOf) {
    // Of several objects it is not known yet which fits: tidying by one would remove members that another needs.
    if (anyOf.filter(({ type }) => type === 'object').length > 1) return undefined
    return each(anyOf.flatMap((branch) => tidyingOf(branch) ?? []))
  }
  if (properties) return tidyingOfMembers(schema, properties)
  const item = itemOf(schema)
  const tidy = item && tidyingOf(item)
  return (
    tidy &&
    ((list) => {
      if (Array.isArray(list)) for (const value of list) tidy(value)
    })
  )
}

function each(works: readonly Tidying[]): Tidying | undefined {
  if (works.length === 0) return undefined
  return (value) => {
    for (const work of works) work(value)
  }
}

function tidyingOfMembers(
  { additionalProperties, patternProperties = {} }: Schema,
  properties: Readonly<Record<string, Schema>>,
): Tidying {
  const names = new Set(Object.keys(properties))
  const patterns = Object.keys(patternProperties).map((pattern) => new RegExp(pattern, 'u'))
  const isNamed = (name: string) => names.has(name) || patterns.some((pattern) => pattern.test(name))
  const works = Object.entries(properties).flatMap(([name, schema]): ((members: Members) => void)[] => {
    const tidy = tidyingOf(schema)
    return [
      ...(schema.default === undefined ? [] : [(members: Members) => putDefault(members, name, schema)]),
      ...(tidy ? [(members: Members) => tidy(members[name])] : []),
    ]
  })
  return (value) => {
    if (!isMembers(value)) return
    if (additionalProperties === undefined)
      for (const name of Object.keys(value)) if (!isNamed(name)) delete value[name]
    for (const work of works) work(value)
  }
}

function putDefault(members: Members, name: string, schema: Schema): void {
  if (members[name] === undefined) members[name] = structuredClone(schema.default)
}
