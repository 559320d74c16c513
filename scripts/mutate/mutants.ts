import { parseAst } from 'vite'

/** A source text with one change. */
export interface Mutant {
  readonly line: number
  readonly column: number
  readonly was: string
  readonly becomes: string
  readonly text: string
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

interface Change {
  readonly start: number
  readonly end: number
  readonly becomes: string
}

const operators: Record<string, readonly string[]> = {
  '===': ['!=='],
  '!==': ['==='],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '&&': ['||'],
  '||': ['&&'],
}
const names: Record<string, string> = {
  some: 'every',
  every: 'some',
  all: 'any',
  any: 'all',
  and: 'or',
  or: 'and',
}
const comparisons: Record<string, string> = {
  '=': '<>',
  '<>': '=',
  '!=': '=',
  in: 'not in',
  'not in': 'in',
  is: 'is not',
  'is not': 'is',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
}

/** Each change of `text` that says something else and can be parsed. */
export function mutantsOf(text: string): Mutant[] {
  const changes = new Map<string, Change>()
  visit(parseAst(text, { lang: 'ts' }) as unknown as Node, (node) => {
    for (const change of changesOf(node, text)) changes.set(JSON.stringify(change), change)
  })
  const sorted = [...changes.values()].sort((one, other) => one.start - other.start)
  return sorted.map((change) => toMutant(text, change)).filter(({ text: changed }) => isParsed(changed))
}

function toMutant(text: string, { start, end, becomes }: Change): Mutant {
  const [before, after] = [text.slice(0, start), text.slice(end)]
  const line = before.split('\n').length
  const column = start - before.lastIndexOf('\n')
  return { line, column, was: text.slice(start, end), becomes, text: before + becomes + after }
}

function isParsed(text: string): boolean {
  try {
    parseAst(text, { lang: 'ts' })
    return true
  } catch {
    return false
  }
}

// What is around a value and says nothing of types only.
const valuesOfTypes = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'])

function visit(node: Node, see: (node: Node) => void): void {
  if (node.type.startsWith('TS') && !valuesOfTypes.has(node.type)) return
  if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return
  see(node)
  for (const member of Object.values(node))
    for (const child of Array.isArray(member) ? member : [member]) if (isNode(child)) visit(child, see)
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

function changesOf(node: Node, text: string): Change[] {
  const { start, end } = node
  const of = (part: unknown) => text.slice((part as Node).start, (part as Node).end)
  const whole = (becomes: string): Change => ({ start, end, becomes })
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const { left, right } = node as unknown as Record<'left' | 'right', Node>
      if (node.operator === '??') return [whole(of(left)), whole(of(right))]
      const operator = node.operator as string
      const at = text.indexOf(operator, left.end)
      return (operators[operator] ?? []).map((becomes) => ({ start: at, end: at + operator.length, becomes }))
    }
    case 'UnaryExpression':
      return node.operator === '!' ? [whole(of(node.argument))] : []
    case 'IfStatement':
      return [...negated(node, text), ...(node.alternate ? [] : [whole(';')])]
    case 'ConditionalExpression':
      return negated(node, text)
    case 'Literal':
      return literalChanges(node, whole)
    case 'ExpressionStatement':
      return /^(await )?[\w.#?]+\(/.test(of(node)) ? [whole(';')] : []
    case 'CallExpression':
      return callChanges(node, text)
    case 'ArrayExpression':
      return without(node.elements as Node[], 0)
    case 'TaggedTemplateExpression':
      return of(node.tag).startsWith('sql') ? sqlChanges(node.quasi as Node, text) : []
    default:
      return []
  }
}

/** Comparisons and what is negated already have their opposite among the operators. */
function negated({ test }: Node, text: string): Change[] {
  const { type, start, end } = test as Node
  if (type === 'BinaryExpression' || type === 'UnaryExpression') return []
  return [{ start, end, becomes: `!(${text.slice(start, end)})` }]
}

function literalChanges({ value }: Node, whole: (becomes: string) => Change): Change[] {
  if (typeof value === 'boolean') return [whole(String(!value))]
  if (typeof value === 'number') return [whole(`${value + 1}`), ...(value > 0 ? [whole(`${value - 1}`)] : [])]
  return []
}

/** `one.where(other)` to `one`, `any(…)` to `all(…)`, `not(one)` to `one`, and calls of both without one of their parts. */
function callChanges(node: Node, text: string): Change[] {
  const callee = node.callee as Node
  const args = node.arguments as Node[]
  const name = (callee.type === 'MemberExpression' ? callee.property : callee) as Node
  const called = text.slice(name.start, name.end)
  const other = names[called]
  const object = callee.object as Node | undefined
  const bare = object && { start: node.start, end: node.end, becomes: text.slice(object.start, object.end) }
  const [, comparison] = args
  const swapped = /^(where|and|having|on|eb|row)$|Where$/.test(called)
    ? comparisons[String(comparison?.value)]
    : undefined
  return [
    ...(other && args.length > 0 ? [{ start: name.start, end: name.end, becomes: other }] : []),
    ...(!object && (called === 'all' || called === 'any') ? without(args, 1) : []),
    ...(called === 'not' && !object && args[0]
      ? [{ start: node.start, end: node.end, becomes: text.slice(args[0].start, args[0].end) }]
      : []),
    ...(bare && /^(where|filter|slice)$/i.test(called) ? [bare] : []),
    ...(comparison && swapped
      ? [{ start: comparison.start, end: comparison.end, becomes: `'${swapped}'` }]
      : []),
  ]
}

/** The list without each of its parts, where more than `least` are left. */
function without(parts: readonly (Node | null)[], least: number): Change[] {
  return parts.flatMap((part, index) => {
    if (!part || parts.length - 1 < least) return []
    const next = parts[index + 1]
    const before = parts[index - 1]
    if (next) return [{ start: part.start, end: next.start, becomes: '' }]
    const start = before ? before.end : part.start
    return [{ start, end: part.end, becomes: '' }]
  })
}

const sqlWords: readonly (readonly [RegExp, string])[] = [
  [/\band\b/g, 'or'],
  [/\bor\b/g, 'and'],
  [/(?<=\s)=(?=\s)/g, '<>'],
  [/<>/g, '='],
  [/(?<=\s)<(?=\s)/g, '<='],
  [/(?<=\s)>(?=\s)/g, '>='],
  [/(?<=\s)<=(?=\s)/g, '<'],
  [/(?<=\s)>=(?=\s)/g, '>'],
  [/(?<!not )\bexists\b/g, 'not exists'],
  [/\bnot exists\b/g, 'exists'],
  [/\bis null\b/g, 'is not null'],
  [/\bis not null\b/g, 'is null'],
  [/(?<!not )\bin \(/g, 'not in ('],
  [/(?<=[( ])not \(/g, '('],
  [/(?<==\s)1\b/g, '0'],
  [/(?<==\s)0\b/g, '1'],
]

/** Changes of single words, and `and` or `or` taken away with what follows it up to the next at the same depth. */
function sqlChanges({ start, end, expressions }: Node, text: string): Change[] {
  let masked = text.slice(start, end)
  for (const part of expressions as Node[])
    masked =
      masked.slice(0, part.start - start) + '_'.repeat(part.end - part.start) + masked.slice(part.end - start)
  const swaps = sqlWords.flatMap(([word, becomes]) =>
    [...masked.matchAll(word)].map(({ index, 0: found }) => ({
      start: start + index,
      end: start + index + found.length,
      becomes,
    })),
  )
  const removals = [...masked.matchAll(/\b(and|or)\b/g)].map(({ index, 0: found }) => ({
    start: start + index,
    end: start + endOfCondition(masked, index + found.length),
    becomes: '',
  }))
  return [...swaps, ...removals]
}

function endOfCondition(masked: string, from: number): number {
  let depth = 0
  for (let at = from; at < masked.length; at += 1) {
    const rest = masked.slice(at)
    if (depth === 0 && /^(\b(and|or|order by|limit|group by)\b|[)`,])/.test(rest)) return at
    if (rest.startsWith('(')) depth += 1
    if (rest.startsWith(')')) depth -= 1
  }
  return masked.length - 1
}
