import {
  hasLargeNumber,
  type RtdbRequestData,
  type RtdbRequestType,
  rtdbLimits,
  rtdbRequests,
} from '@kith/protocol'
import { Compile, type Validator } from 'typebox/compile'
import { longObjectOf, objectOf } from './parse-json.ts'

/** What a client sent, by its type. */
export type RtdbRequest = {
  readonly [Type in RtdbRequestType]: { readonly type: Type; readonly data: RtdbRequestData<Type> }
}[RtdbRequestType]

export type RequestId = string | number | undefined

export type ParsedRequest =
  | { readonly kind: 'request'; readonly id: RequestId; readonly request: RtdbRequest }
  | { readonly kind: 'malformed'; readonly id: RequestId; readonly message: string }
  /** It is no JSON object at all. */
  | { readonly kind: 'noise' }

// What compares, sorts and writes values goes down into them.
const maxDepth = 100

const tooLong = `a request has at most ${rtdbLimits.requestCharacters} characters, and so has a transaction beside its operations, which have at most ${rtdbLimits.operationCharacters} each`
const tooDeep = `a message has at most ${maxDepth} levels`
const tooManyNames = `the members of an operation have at most ${rtdbLimits.documentNames} different names`
const tooMany = `an operation has at most ${rtdbLimits.operationValues} values, and those of a transaction at most ${rtdbLimits.transactionValues}`

/** Only transactions are long, and only of who may write. */
export function isLongRequest(text: string): boolean {
  return text.length > rtdbLimits.requestCharacters
}

/** Reads a message as far as it makes sense. */
export function parseRequest(text: string): ParsedRequest {
  const message = objectOf(text)
  return message ? checkRequest(message) : { kind: 'noise' }
}

/** The same for a long one of a client that may write, in turns of the event loop. */
export async function parseLongRequest(text: string): Promise<ParsedRequest> {
  const read = await longObjectOf(text, operationBounds)
  if (!read) return { kind: 'noise' }
  const { members, excess } = read
  const { id, operations } = members
  if (excess === 'characters' || members.type !== 'transaction') return malformed(id, tooLong)
  if (!excess && !Array.isArray(operations)) return checkRequest(members)
  const checked = checkRequest({ ...members, operations: [] })
  if (checked.kind !== 'request') return checked
  if (excess) return malformed(id, refusals[excess])
  const request = { type: 'transaction', data: members } as RtdbRequest
  return { kind: 'request', id: checked.id, request }
}

/** What a long one of a client that may not write is taken for. */
export const longRequestOfReader: ParsedRequest = { kind: 'malformed', id: undefined, message: tooLong }

function checkRequest(message: Readonly<Record<string, unknown>>): ParsedRequest {
  const { id, type } = message
  if (isDeeper(message, maxDepth)) return malformed(id, tooDeep)
  if (hasLargeNumber(message)) return malformed(id, 'a number is too large')
  if (id !== undefined && !isRequestId(id)) return malformed(id, 'an id is a string or a number')
  if (typeof type !== 'string' || !isRequestType(type))
    return malformed(id, 'this type of request is unknown')
  if (!checkOf(type).Check(message)) return malformed(id, misfit(type))
  return { kind: 'request', id, request: { type, data: message } as RtdbRequest }
}

function malformed(id: unknown, message: string): ParsedRequest {
  return { kind: 'malformed', id: isRequestId(id) ? id : undefined, message }
}

function misfit(type: RtdbRequestType): string {
  return `the members do not fit a request of type ${type}`
}

function isRequestId(id: unknown): id is string | number {
  return typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id))
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1))
}

function isRequestType(type: string): type is RtdbRequestType {
  return Object.hasOwn(rtdbRequests, type)
}

const operationCheck = Compile(rtdbRequests.transaction.properties.operations.items)
// An operation is a value of a list of the message.
const operationBounds = {
  list: 'operations',
  elements: rtdbLimits.operations,
  elementCharacters: rtdbLimits.operationCharacters,
  elementLevels: maxDepth - 2,
  elementValues: rtdbLimits.operationValues,
  elementNames: rtdbLimits.documentNames,
  listValues: rtdbLimits.transactionValues,
  isElement: (operation: unknown) => operationCheck.Check(operation),
  otherCharacters: rtdbLimits.requestCharacters,
}
const refusals = {
  levels: tooDeep,
  values: tooMany,
  names: tooManyNames,
  element: misfit('transaction'),
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
