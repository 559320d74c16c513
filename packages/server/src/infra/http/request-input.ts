import type { Contract } from '@kith/protocol'
import { invalid } from '#lib/failure.ts'
import { compileBodyCheck, compileInputCheck, type InputCheck } from './input-check.ts'

type Values = Record<string, unknown>

/** The checks of one contract's input, part by part. Each answers the decoded values. */
export interface InputReader {
  params(raw: Readonly<Values>): Values
  query(raw: Readonly<Values>): Values
  headers(raw: Readonly<Values>): Values
  body(parsed: unknown): unknown
}

// Compiling takes milliseconds. Several servers in one process have the same contracts.
const compiled = new WeakMap<Contract, InputReader>()

/** What reads a contract's input; compiled when it is first asked for. */
export function inputReaderOf(contract: Contract): InputReader {
  const known = compiled.get(contract)
  if (known) return known
  const reader = compileInputReader(contract)
  compiled.set(contract, reader)
  return reader
}

function compileInputReader(contract: Contract): InputReader {
  const { body } = contract
  const checkParams = contract.params && compileInputCheck(contract.params, '/params')
  const checkQuery = contract.query && compileInputCheck(contract.query, '/query')
  const checkHeaders = contract.headers && compileInputCheck(contract.headers, '/headers')
  const checkBody = body?.kind === 'json' ? compileBodyCheck(body.schema) : undefined
  const queryPlan = planOf(contract.query, aliasesOf(contract))
  const paramPlan = planOf(contract.params, {})
  const headerPlan = planOf(contract.headers, {})
  const read = (plan: readonly Planned[], check: InputCheck | undefined, raw: Readonly<Values>) => {
    const values = pick(plan, raw)
    check?.(values)
    return values
  }
  return {
    params: (raw) => read(paramPlan, checkParams, raw),
    query: (raw) => read(queryPlan, checkQuery, raw),
    headers: (raw) => read(headerPlan, checkHeaders, raw),
    body: (parsed) => checkBody?.(parsed),
  }
}

function aliasesOf(contract: Contract): Readonly<Record<string, string>> {
  return { _limit: 'limit', _offset: 'offset', ...contract.queryAliases }
}

/** How one parameter gets from its text to the value that is checked. */
interface Planned {
  readonly name: string
  /** The name, then its aliases; the first that is given counts. */
  readonly sources: readonly string[]
  readonly form: 'number' | 'boolean' | 'list' | 'text'
}

interface ParameterSchema {
  readonly type?: string
  readonly anyOf?: readonly ParameterSchema[]
  readonly 'x-decode'?: string
}

function planOf(schema: Contract['query'], aliases: Readonly<Record<string, string>>): readonly Planned[] {
  return Object.entries<ParameterSchema>(schema?.properties ?? {}).map(([name, parameter]) => ({
    name,
    sources: [name, ...Object.keys(aliases).filter((alias) => aliases[alias] === name)],
    form: parameter['x-decode'] === 'commaList' ? 'list' : formOf(parameter),
  }))
}

function formOf(schema: ParameterSchema): Planned['form'] {
  const types = [schema.type, ...(schema.anyOf ?? []).map(({ type }) => type)]
  if (types.includes('string')) return 'text'
  if (types.includes('integer') || types.includes('number')) return 'number'
  return types.includes('boolean') ? 'boolean' : 'text'
}

function pick(plan: readonly Planned[], raw: Readonly<Values>): Values {
  const values: Values = {}
  for (const { name, sources, form } of plan) {
    const source = sources.length === 1 ? name : sources.find((each) => raw[each] !== undefined)
    const given = source === undefined ? undefined : raw[source]
    if (given !== undefined)
      values[name] = typeof given === 'string' ? coerce(given, form) : joined(given, name, form)
  }
  return values
}

/** Text that is not exactly a number or a boolean stays text, and then fails for its type. */
function coerce(text: string, form: Planned['form']): unknown {
  if (form === 'number') return /^-?\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) : text
  if (form === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return text
}

/** A parameter that is given several times is refused: which one counts would be a guess. Lists add up. */
function joined(given: unknown, name: string, form: Planned['form']): string {
  if (form === 'list' && Array.isArray(given)) return given.join(',')
  throw invalid(`/query/${name}`, 'is given more than once')
}
