import { type Decoding, decodeKeyword, unknownIdCode } from '@kith/protocol'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Failure, invalid } from '#lib/failure.ts'
import { decode, decodingFault } from './decoding.ts'
import { isMembers, itemOf, type Schema } from './input-schema.ts'

/** Turns a value that has been checked into what the handler receives, objects and lists in place. Throws what
 * `undecodable` says. */
type Decoder = (value: unknown, path: string) => unknown

/** Undefined where nothing is decoded. */
export function decoderOf(schema: Schema): Decoder | undefined {
  const { [decodeKeyword]: decoding, 'x-words': words, anyOf, properties = {} } = schema
  if (decoding)
    return (value, path) => decode(decoding, value, words) ?? fail(undecodable(decoding, words, path))
  if (anyOf) return decoderOfUnion(anyOf)
  const item = itemOf(schema)
  if (item) return decoderOfList(item)
  const members = Object.entries(properties).flatMap(([name, member]) => {
    const read = decoderOf(member)
    return read ? [{ name, read }] : []
  })
  if (members.length === 0) return undefined
  return (value, path) => {
    if (isMembers(value))
      for (const { name, read } of members)
        if (value[name] !== undefined) value[name] = read(value[name], `${path}/${name}`)
    return value
  }
}

function fail(failure: Failure): never {
  throw failure
}

/** What text answers that has not the form of its decoding: an unknown id, or input that is not valid. */
export function undecodable(decoding: Decoding, words: readonly string[] | undefined, path: string): Failure {
  const code = unknownIdCode[decoding]
  if (!code) return invalid(path, decodingFault(decoding, words))
  const isName = decoding === 'profileName' || decoding === 'domainName'
  return new Failure(code, isName ? { message: 'A name is a DNS name of at least two labels.' } : {})
}

function decoderOfList(item: Schema): Decoder | undefined {
  const read = decoderOf(item)
  return (
    read &&
    ((list, path) => (Array.isArray(list) ? list.map((value, at) => read(value, `${path}/${at}`)) : list))
  )
}

/** The first branch that the value fits and that can decode it. */
function decoderOfUnion(branches: readonly Schema[]): Decoder | undefined {
  const readers = branches.map((branch) => ({ read: decoderOf(branch), fits: Compile<TSchema>(branch) }))
  if (readers.every(({ read }) => read === undefined)) return undefined
  return (value, path) => {
    const failures: unknown[] = []
    for (const { read, fits } of readers) {
      if (!fits.Check(value)) continue
      try {
        return read ? read(value, path) : value
      } catch (error) {
        failures.push(error)
      }
    }
    throw failures[0]
  }
}
