import { type ComputeContext, computeValue, hasComputed } from './computed-values.ts'
import { RtdbFailure } from './rtdb-failure.ts'
import { isJsonObject, type JsonObject, maxDepth, memberOf, plainObject } from './values.ts'

// A turn of the event loop is asked for after so many members.
const membersAtOnce = 500

/** Everything but the queries of a computation: they need the transaction. */
export type DataContext = Pick<ComputeContext, 'now' | 'query' | 'spend' | 'giveWay'>

/** The document that `create` and `replace` make of their data. */
export async function newData(context: DataContext, data: JsonObject): Promise<JsonObject> {
  const made = plainObject()
  const values = { ...context, fieldOf: (name: string) => plainMember(data, name) }
  for (const [at, name] of Object.keys(data).entries()) {
    if (at % membersAtOnce === 0) await context.giveWay()
    if (name === 'id') continue
    const value = hasComputed(data[name]) ? await computeValue(values, data[name], undefined) : data[name]
    if (value !== undefined) made[name] = value
  }
  return made
}

/** The document that `update` makes of one, or of an empty one where there is none: fields take the place of those that are there,
 * null removes, and dots reach inside. */
export async function mergedData(
  context: DataContext,
  before: JsonObject,
  data: JsonObject,
): Promise<JsonObject> {
  const merged = plainObject(before)
  const fieldOf = (name: string) => plainMember(data, name) ?? memberOf(before, name)
  const values = { ...context, fieldOf }
  const own = new Set<object>()
  for (const [at, name] of Object.keys(data).entries()) {
    if (at % membersAtOnce === 0) await context.giveWay()
    const steps = name.split('.')
    if (steps.length > maxDepth || steps.includes(''))
      throw new RtdbFailure(400, 'A field that reaches inside has a name before and behind each dot')
    if (steps[0] === 'id') continue
    const current = valueAt(merged, steps)
    const value = hasComputed(data[name]) ? await computeValue(values, data[name], current) : data[name]
    // A null that was computed from one that is there does not remove it.
    const isKept = value === current && data[name] !== null
    if (value !== undefined && !isKept) setAt(merged, steps, { value, own })
  }
  return merged
}

function plainMember(data: JsonObject, name: string): unknown {
  const value = memberOf(data, name)
  return hasComputed(value) ? undefined : value
}

function valueAt(object: JsonObject, steps: readonly string[]): unknown {
  let value: unknown = object
  for (const step of steps) {
    if (!isJsonObject(value)) return undefined
    value = memberOf(value, step)
  }
  return value
}

/** Objects on the way are copied, each once: the document before stays as it was. */
function setAt(
  object: Record<string, unknown>,
  steps: readonly string[],
  { value, own }: { readonly value: unknown; readonly own: Set<object> },
): void {
  let target = object
  for (const step of steps.slice(0, -1)) {
    const inner = target[step]
    if (!isJsonObject(inner) && value === null) return
    if (isJsonObject(inner) && own.has(inner)) {
      target = inner as Record<string, unknown>
      continue
    }
    const copy = plainObject(isJsonObject(inner) ? inner : {})
    own.add(copy)
    target[step] = copy
    target = copy
  }
  const last = steps.at(-1) ?? ''
  if (value === null) delete target[last]
  else target[last] = value
}
