import { Readable } from 'node:stream'
import { byteConditions, type Contract, encodeBody, encodePath } from '@kith/protocol'
import { idTagOf } from '#infra/caller/index.ts'
import type { Egress, EgressRequest, EgressStream } from '#infra/egress/index.ts'
import type { Answer, ByteBody, Call } from '#infra/http/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type Gate, GateFullError } from '#lib/gate.ts'
import { badAnswer, noAnswer } from './bad-answer.ts'
import { readByteAnswer } from './read-byte-answer.ts'
import { jsonOf, readJsonAnswer } from './read-json-answer.ts'
import { SilenceTimer } from './silence-timer.ts'
import { toldFailure } from './told-failure.ts'
import type { Visa } from './visitor-tokens.ts'

/** A way to other servers. */
interface Lane {
  readonly egress: Pick<Egress, 'stream'>
  /** Requests at once, by owner. */
  readonly gate: Gate
}

export interface AskDeps {
  readonly clock: Clock
  readonly json: Lane
  /** Files, which may take as long as a person watches them: nothing else waits for them. */
  readonly bytes: Lane
}

/** A question to the server of another identity. */
export interface Question {
  readonly contract: Contract
  readonly call: Call<Contract>
  readonly visa: Pick<Visa, 'bearer' | 'serverUrl'>
}

// A page of 200 long posts has some hundred KiB.
const maxJsonBytes = 4 * 1024 ** 2
// A failure, where bytes were asked for.
const maxFailureBytes = 65_536
const maxFileBytes = 10 * 1024 ** 3
// To the first byte of an answer, and between two pieces of an upload.
const patienceMs = 10_000
// A film that is watched at the speed of the person who watches it, and a large upload; anything else has the usual time.
const longestMs = 6 * 60 * 60 * 1000
/** Headers that mean the file, and not the browser or the host that was called. */
const passedHeaders = Object.keys(byteConditions)

/** Asks the other server, and answers as a handler of the contract would. A 401 is thrown as `E-AUTH-UNAUTH`. */
export async function askElsewhere(deps: AskDeps, question: Question): Promise<Answer<Contract>> {
  const { contract, call } = question
  const isLong = contract.reply.kind === 'bytes' || contract.body?.kind === 'bytes'
  const { egress, gate } = isLong ? deps.bytes : deps.json
  const leave = await enter(gate, call)
  try {
    const answer = await send({ clock: deps.clock, egress, isLong }, question)
    if (contract.reply.kind === 'bytes' && answer.status < 400) {
      answer.body.once('close', leave)
      return readByteAnswer(answer, {
        range: headerOf(call, 'range'),
        forceDownload: (call.query as { readonly download?: string }).download === '1',
      }) as Answer<Contract>
    }
    const bytes = await wholeOf(answer, contract)
    leave()
    if (answer.status === 401) throw new Failure('E-AUTH-UNAUTH')
    if (answer.status >= 400) throw toldFailure(answer.status, answer.headers, jsonOf(bytes))
    if (answer.status > 204) throw badAnswer(`HTTP ${answer.status}`)
    return readJsonAnswer(contract, answer.status, bytes)
  } catch (error) {
    leave()
    throw error
  }
}

async function enter(gate: Gate, { caller, signal }: Call<Contract>): Promise<() => void> {
  try {
    return await gate.enter(idTagOf(caller) ?? '', signal)
  } catch (error) {
    if (error instanceof GateFullError) throw new Failure('E-UNAVAILABLE', { retryAfterSecs: 5 })
    throw error
  }
}

async function send(
  { clock, egress, isLong }: Pick<AskDeps, 'clock'> & Pick<Lane, 'egress'> & { readonly isLong: boolean },
  question: Question,
): Promise<EgressStream> {
  const { contract, call } = question
  const patience = new SilenceTimer(clock, patienceMs)
  try {
    return await egress.stream({
      method: call.isHead ? 'HEAD' : contract.method,
      url: urlOf(question),
      ...headersAndBodyOf(question, patience),
      maxBytes: contract.reply.kind === 'bytes' ? maxFileBytes : maxJsonBytes,
      ...(isLong ? { timeoutMs: longestMs } : {}),
      refusesRedirects: true,
      signal: AbortSignal.any([call.signal, patience.signal]),
    })
  } catch (error) {
    throw noAnswer(error)
  } finally {
    patience.stop()
  }
}

/** The address anew, from the values that the contract has read: nothing of the text that the client sent. */
function urlOf({ contract, call, visa }: Question): string {
  try {
    return visa.serverUrl + encodePath(contract, call)
  } catch (error) {
    // A segment that URL parsers would remove, which names nothing.
    if (error instanceof TypeError) throw new Failure('E-NOTFOUND')
    throw error
  }
}

function headersAndBodyOf(
  { contract, call, visa }: Question,
  patience: SilenceTimer,
): Pick<EgressRequest, 'headers' | 'body'> {
  const given = passedHeaders.flatMap((name) => {
    const value = headerOf(call, name)
    return value === undefined ? [] : [[name, value]]
  })
  const headers = {
    ...Object.fromEntries(given),
    accept: contract.reply.kind === 'bytes' ? '*/*' : 'application/json',
    authorization: `Bearer ${visa.bearer}`,
  }
  if (contract.body?.kind === 'bytes') {
    const { stream, contentType, declaredLength } = call.body as unknown as ByteBody
    const body = { stream: watched(stream, patience), bytes: declaredLength }
    return { headers: { ...headers, 'content-type': contentType }, body }
  }
  const body = encodeBody(contract, call.body)
  return body ? { headers: { ...headers, 'content-type': body.type }, body: body.text } : { headers }
}

/** An upload on its way, which ends when the other server takes nothing for too long. */
function watched(stream: Readable, patience: SilenceTimer): Readable {
  async function* pieces() {
    for await (const piece of stream as AsyncIterable<Uint8Array>) {
      patience.restart()
      yield piece
    }
    patience.restart()
  }
  return Readable.from(pieces(), { objectMode: false })
}

function headerOf({ headers }: Call<Contract>, name: string): string | undefined {
  const value = (headers as Readonly<Record<string, unknown>>)[name]
  return typeof value === 'string' ? value : undefined
}

/** A body within the bound of its kind. */
async function wholeOf({ body }: EgressStream, { reply }: Contract): Promise<Uint8Array> {
  const maxBytes = reply.kind === 'bytes' ? maxFailureBytes : maxJsonBytes
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength
      if (bytes > maxBytes) throw badAnswer('an answer that is too large')
      chunks.push(chunk)
    }
  } catch (error) {
    throw noAnswer(error)
  }
  return Buffer.concat(chunks, bytes)
}
