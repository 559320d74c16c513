import { type RtdbRequestData, type RtdbRequestType, rtdbLimits, rtdbRequests } from '@kith/protocol'
import { Compile, type Validator } from 'typebox/compile'

/** What a client sent, by its type. */
export type RtdbRequest = {
  readonly [Type in RtdbRequestType]: { readonly type: Type; readonly data: RtdbRequestData<Type> }
}[RtdbRequestType]

export type RequestId = string | number | undefined

type ParsedRequest =
  | { readonly kind: 'request'; readonly id: RequestId; readonly request: RtdbRequest }
  | { readonly kind: 'malformed'; readonly id: RequestId; readonly message: string }
  /** It is no JSON object at all. */
  | { readonly kind: 'noise' }

// What compares, sorts and writes values goes down into them.
const maxDepth = 100

const tooLong = `a request has at most ${rtdbLimits.requestCharacters} characters`

/** Reads a message as far as it makes sense. Only transactions are long, and only of who may write: reading takes time of
 * everybody else. */
export function parseRequest(text: string, canWrite = true): ParsedRequest {
  const isLong = text.length > rtdbLimits.requestCharacters
  if (isLong && !canWrite) return { kind: 'malformed', id: undefined, message: tooLong }
  const message = objectOf(text)
  if (!message) return { kind: 'noise' }
  const { id, type } = message
  const isNamed = typeof id === 'string' || typeof id === 'number'
  const malformed = (why: string) =>
    ({ kind: 'malformed', id: isNamed ? id : undefined, message: why }) as const
  if (isLong && type !== 'transaction') return malformed(tooLong)
  if (isDeeper(message, maxDepth)) return malformed(`a message has at most ${maxDepth} levels`)
  if (id !== undefined && !isNamed) return malformed('an id is a string or a number')
  if (typeof type !== 'string' || !isRequestType(type)) return malformed('this type of request is unknown')
  if (!checkOf(type).Check(message)) return malformed(`the members do not fit a request of type ${type}`)
  return { kind: 'request', id, request: { type, data: message } as RtdbRequest }
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1))
}

function isRequestType(type: string): type is RtdbRequestType {
  return Object.hasOwn(rtdbRequests, type)
}

// Compiled when they are first needed, and bounded by the types of requests.
const checks = new Map<RtdbRequestType, Validator>()

function checkOf(type: RtdbRequestType): Validator {
  const known = checks.get(type)
  if (known) return known
  const made: Validator = Compile(rtdbRequests[type])
  checks.set(type, made)
  return made
}
