import { isDeepStrictEqual } from 'node:util'
import { allContracts, type Contract, callableContract } from '@kith/protocol'

/** A module of the protocol as it comes into a browser. */
export interface GeneratedModule {
  readonly code: string
  /** Exports that could not be carried over. */
  readonly missing: ReadonlySet<string>
}

/** Id of `missingModule`. */
export const missingId = '\0kith:missing'

/** What stands in place of an export that is left out: each use throws, in a development server too, where no bundle is checked. */
export const missingModule = `/* @__NO_SIDE_EFFECTS__ */
export function missing(name) {
  const fail = () => {
    throw new TypeError(name + ' of @kith/protocol was left out by slimContracts()')
  }
  return new Proxy(() => {}, { get: fail, has: fail, ownKeys: fail, apply: fail })
}
`

/** Writes the module with these exports: contracts as what a client reads of them, plain data as it is. */
export function generateModule(exports: Readonly<Record<string, unknown>>): GeneratedModule {
  const missing = new Set<string>()
  const lines = Object.entries(exports).map(([name, value]) => {
    const text = textOf(value)
    if (text === undefined) missing.add(name)
    return `export const ${name} = ${text ?? `/* @__PURE__ */ missing(${JSON.stringify(name)})`}\n`
  })
  const first = missing.size > 0 ? `import { missing } from ${JSON.stringify(missingId)}\n` : ''
  return { code: first + lines.join(''), missing }
}

const contracts: ReadonlySet<unknown> = new Set(allContracts)
const isContract = (value: unknown): value is Contract => contracts.has(value)

/** The JSON of a value that is the same as JSON, or of what a client reads of contracts; undefined for everything else. */
function textOf(value: unknown): string | undefined {
  if (isContract(value)) return JSON.stringify(callableContract(value))
  if (Array.isArray(value) && value.length > 0 && value.every(isContract))
    return JSON.stringify(value.map(callableContract))
  if (holdsSchema(value)) return undefined
  const text = JSON.stringify(value) as string | undefined
  return text !== undefined && isDeepStrictEqual(JSON.parse(text), value) ? text : undefined
}

/** TypeBox marks its schemas with properties that are not enumerable. */
function holdsSchema(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return (
    Object.getOwnPropertyNames(value).some((name) => name.startsWith('~')) ||
    Object.values(value).some(holdsSchema)
  )
}
