import type { IncomingMessage } from 'node:http'
import { type JsonProblem, maxJsonDepth, readJson as readPlainJson } from '@kith/protocol'
import { parse } from 'secure-json-parse'
import type { Clock } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import type { BodyBudget, BodyShare } from './body-budget.ts'
import type { TokenBody } from './endpoint.ts'
import { isMembers } from './input-schema.ts'

// docs/protocol/conventions.md, Bounds.
const maxJsonBytes = 1024 * 1024
const maxTokenBytes = 256 * 1024
// Names, quotes and white space around two tokens.
const framingBytes = 1024

const readTimeoutMs = 30_000

/** How a body is read. */
interface BodyReading {
  readonly clock: Clock
  readonly budget: BodyBudget
  /** The client's address, as rate limits count it. */
  readonly address: string
}

/** Whether the request announces a body at all. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/** The media type of the body, lower-case and without parameters; undefined without the header. */
export function mediaTypeOf({ headers }: IncomingMessage): string | undefined {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
}

export function isJson(mediaType: string | undefined): boolean {
  return mediaType !== undefined && /^application\/(?:[\w.-]+\+)?json$/.test(mediaType)
}

/** Compressed bodies are refused: a small one may expand to a very large one. */
export function assertPlainEncoding({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw new Failure('E-MEDIATYPE')
}

/** The parsed JSON body, or undefined when there is none. */
export async function readJson(request: IncomingMessage, reading: BodyReading): Promise<unknown> {
  if (!hasBody(request)) return undefined
  const mediaType = mediaTypeOf(request)
  if (mediaType !== undefined && !isJson(mediaType)) throw new Failure('E-MEDIATYPE')
  assertPlainEncoding(request)
  const bytes = await readBytes(request, maxJsonBytes, reading)
  if (bytes.length === 0) return undefined
  if (mediaType === undefined) throw new Failure('E-MEDIATYPE')
  return parseJson(bytes)
}

/** The compact token of an `application/jwt` body or of JSON `{token}`; in JSON with the one under the name `beside`, as
 * long again. */
export async function readTokens(
  request: IncomingMessage,
  reading: BodyReading,
  beside?: string,
): Promise<TokenBody> {
  const mediaType = mediaTypeOf(request)
  const isText = mediaType === 'application/jwt'
  if (hasBody(request) && !isText && !isJson(mediaType)) throw new Failure('E-MEDIATYPE')
  assertPlainEncoding(request)
  const maxBytes = beside === undefined || isText ? maxTokenBytes : 2 * maxTokenBytes + framingBytes
  const bytes = await readBytes(request, maxBytes, reading)
  const body = isText ? { token: bytes.toString('latin1').trim() } : tokensOf(bytes, beside)
  if (body.token === '') throw invalid('', 'is required')
  return body
}

function tokensOf(bytes: Buffer, beside: string | undefined): TokenBody {
  if (bytes.length === 0) return { token: '' }
  const parsed = parseJson(bytes)
  const body = isMembers(parsed) ? parsed : {}
  const { token } = body
  const other = beside === undefined ? undefined : body[beside]
  if (typeof token !== 'string')
    throw invalid('/token', token === undefined ? 'is required' : 'must be string')
  if (other !== undefined && typeof other !== 'string') throw invalid(`/${beside}`, 'must be string')
  for (const text of [token, other ?? '']) if (text.length > maxTokenBytes) throw new Failure('E-TOOLARGE')
  return other === undefined ? { token } : { token, beside: other }
}

const problems: Record<JsonProblem, string> = {
  encoding: 'is not UTF-8',
  depth: `is nested deeper than ${maxJsonDepth} levels`,
  syntax: 'is not valid JSON',
  nul: 'must not contain the character U+0000',
  surrogate: 'must not contain halves of characters (lone surrogates)',
  number: 'must not contain a number that is too large',
}

function parseJson(bytes: Buffer): unknown {
  const read = readPlainJson(bytes, parseText)
  if ('problem' in read) throw invalid('', problems[read.problem])
  return read.value
}

/** Members that would reach a prototype are dropped like any other unknown member. */
function parseText(text: string): unknown {
  return parse(text, { protoAction: 'remove', constructorAction: 'remove' })
}

/** Reads the whole body, at most `maxBytes` and 30 seconds long. */
async function readBytes(
  request: IncomingMessage,
  maxBytes: number,
  { clock, budget, address }: BodyReading,
): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > maxBytes) throw new Failure('E-TOOLARGE')
  const share = budget.open(address)
  try {
    return await collect(request, { maxBytes, clock, share })
  } finally {
    share.release()
  }
}

function collect(
  request: IncomingMessage,
  { maxBytes, clock, share }: { readonly maxBytes: number; readonly clock: Clock; readonly share: BodyShare },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let total = 0
    const settle = () => {
      cancelTimeout()
      request.off('data', onData).off('end', onEnd).off('error', fail)
    }
    // A client that sends this slowly gets no answer: it might read that as slowly.
    const cancelTimeout = clock.wakeAt(clock.now() + readTimeoutMs, () =>
      request.destroy(new Error('the body took too long')),
    )
    const onData = (chunk: Buffer) => {
      total += chunk.length
      if (total > maxBytes) return fail(new Failure('E-TOOLARGE'))
      try {
        share.take(chunk.length)
      } catch (error) {
        return fail(error)
      }
      chunks.push(chunk)
    }
    const fail = (error: unknown) => {
      settle()
      reject(error)
    }
    const onEnd = () => {
      settle()
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, total))
    }
    request.on('data', onData).on('end', onEnd).on('error', fail)
  })
}
