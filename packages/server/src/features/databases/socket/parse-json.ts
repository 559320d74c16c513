import { EventLoopTurns } from '#lib/event-loop-turns.ts'
import { JsonScanner, type Span, type ValueSpan } from './json-scanner.ts'

type Members = Readonly<Record<string, unknown>>

/** The object that a text is; undefined when it is no JSON or no object. */
export function objectOf(text: string): Members | undefined {
  const parsed = parsedOf(text)
  const isObject = typeof parsed?.value === 'object' && parsed.value !== null && !Array.isArray(parsed.value)
  return isObject ? (parsed.value as Members) : undefined
}

interface Bounds {
  /** The member whose elements are parsed one by one. */
  readonly list: string
  /** It has one more when there are more. */
  readonly elements: number
  /** Of each of its elements: they are counted before it is parsed. */
  readonly elementCharacters: number
  readonly elementLevels: number
  readonly elementValues: number
  readonly elementNames: number
  /** Of all of them together. */
  readonly listValues: number
  /** Looks at an element right after it was parsed; false when the others need not be parsed. */
  isElement(value: unknown): boolean
  /** Of all other members together. */
  readonly otherCharacters: number
}

/** Why not all of a text is among the members: the first reason that was found. */
type Excess = 'characters' | 'levels' | 'values' | 'names' | 'element'

/** What could be read of a long text. */
export interface LongObject {
  readonly members: Members
  readonly excess: Excess | undefined
}

// More than any request has.
const maxMembers = 64

/** The object that a long text is, parsed in turns of the event loop. Undefined when it is no JSON or no object. */
export async function longObjectOf(text: string, bounds: Bounds): Promise<LongObject | undefined> {
  const turns = new EventLoopTurns()
  const scanner = new JsonScanner(text, turns, { mostNames: bounds.elementNames })
  const spans = await scanner.members(maxMembers)
  if (!spans) return undefined
  // Names such as `__proto__` are plain.
  const members: Record<string, unknown> = Object.create(null)
  let excess: Excess | undefined = spans.length === maxMembers ? 'characters' : undefined
  let left = bounds.otherCharacters
  for (const { name, value } of spans) {
    const key = lengthOf(name) <= left ? parsedOf(textAt(text, name)) : { value: '' }
    if (typeof key?.value !== 'string') return undefined
    const elements =
      key.value === bounds.list ? await scanner.elements(value, bounds.elements + 1) : undefined
    if (elements) {
      const list = await parseList(text, elements, { bounds, turns })
      if (!list) return undefined
      if (typeof list === 'string') excess ??= list
      else members[key.value] = list
      continue
    }
    left -= lengthOf(name) + lengthOf(value)
    if (left < 0) {
      excess ??= 'characters'
      continue
    }
    const parsed = parsedOf(textAt(text, value))
    if (!parsed) return undefined
    members[key.value] = parsed.value
  }
  return { members, excess }
}

interface ListParsing {
  readonly bounds: Bounds
  readonly turns: EventLoopTurns
}

/** The elements of a list; undefined when one of them is no JSON. */
async function parseList(
  text: string,
  spans: readonly ValueSpan[],
  { bounds, turns }: ListParsing,
): Promise<unknown[] | Excess | undefined> {
  const excess = excessOf(spans, bounds)
  if (excess) return excess
  const values: unknown[] = []
  for (const span of spans) {
    const parsed = parsedOf(textAt(text, span))
    if (!parsed) return undefined
    if (!bounds.isElement(parsed.value)) return 'element'
    values.push(parsed.value)
    await turns.giveWay()
  }
  return values
}

function excessOf(spans: readonly ValueSpan[], bounds: Bounds): Excess | undefined {
  let values = 0
  for (const span of spans) {
    if (lengthOf(span) > bounds.elementCharacters) return 'characters'
    if (span.levels > bounds.elementLevels) return 'levels'
    if (span.names > bounds.elementNames) return 'names'
    values += span.values
    if (span.values > bounds.elementValues || values > bounds.listValues) return 'values'
  }
  return undefined
}

function lengthOf({ from, to }: Span): number {
  return to - from
}

function textAt(text: string, { from, to }: Span): string {
  return text.slice(from, to)
}

function parsedOf(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
