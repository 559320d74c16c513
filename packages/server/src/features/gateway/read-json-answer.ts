import { type Contract, enveloped, envelopedList, type Page, readJson } from '@kith/protocol'
import { parse } from 'secure-json-parse'
import Type from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { type Answer, Reshaped } from '#infra/http/index.ts'
import { badAnswer } from './bad-answer.ts'

const maxCursorLength = 2048

// Compiling takes milliseconds. As many as there are contracts.
const compiled = new WeakMap<Contract, Pick<Validator, 'Check'>>()

/** The JSON of an answer; undefined when it is none that is taken from outside. */
export function jsonOf(bytes: Uint8Array): unknown {
  const read = readJson(bytes, (text) => parse(text, { protoAction: 'remove', constructorAction: 'remove' }))
  return 'value' in read ? read.value : undefined
}

/** What another server answered to an endpoint, as a handler of it would have: it has the form that the contract says, and is
 * written anew. */
export function readJsonAnswer(contract: Contract, status: number, bytes: Uint8Array): Answer<Contract> {
  const { reply } = contract
  if (reply.kind === 'empty') return undefined as Answer<Contract>
  const body = jsonOf(bytes)
  if (!checkOf(contract).Check(body)) throw badAnswer(`the answer to ${contract.name} has another form`)
  if (reply.kind === 'list') return pageOf(body as ListBody) as unknown as Answer<Contract>
  const { data } = body as { readonly data: unknown }
  return (status === reply.status ? data : new Reshaped(data, { status })) as Answer<Contract>
}

function checkOf(contract: Contract): Pick<Validator, 'Check'> {
  const known = compiled.get(contract)
  if (known) return known
  const check = Compile(bodyOf(contract))
  compiled.set(contract, check)
  return check
}

/** Without what an envelope says of the answer itself, which is not passed on. */
function bodyOf({ reply, name }: Contract) {
  if (!('schema' in reply) || reply.kind === 'bare')
    throw new TypeError(`${name} does not go through the gateway`)
  const envelope = reply.kind === 'list' ? envelopedList(reply.schema) : enveloped(reply.schema)
  return Type.Omit(envelope, ['time', 'reqId'])
}

interface ListBody {
  readonly data: readonly unknown[]
  readonly cursorPagination?: { readonly nextCursor: string | null; readonly hasMore: boolean }
  readonly pagination?: { readonly total: number; readonly offset: number; readonly limit: number }
}

function pageOf({ data: items, cursorPagination, pagination }: ListBody): Page<unknown> {
  if (pagination) {
    const { total, offset, limit } = pagination
    return { items, total, offset, limit }
  }
  const nextCursor = cursorPagination?.nextCursor ?? null
  if (nextCursor !== null && nextCursor.length > maxCursorLength) throw badAnswer('a cursor that is too long')
  return { items, nextCursor }
}
