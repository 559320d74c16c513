import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import type { Clock } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import type { ByteBody } from './endpoint.ts'
import { assertPlainEncoding, hasBody, isJson, mediaTypeOf } from './json-body.ts'

const checkEveryMs = 30_000
/** Slower uploads than this hold a connection for nothing (ABUSE row 5). */
const minBytesPerCheck = 3_000

/** The body of an upload as a stream: the raw bytes, or the part `file` of a multipart form. Where `only` is given, raw
 * bytes of that type alone. */
export async function openByteBody(
  request: IncomingMessage,
  clock: Clock,
  only: string | undefined,
): Promise<ByteBody> {
  const mediaType = mediaTypeOf(request)
  if (only !== undefined && mediaType !== only) throw new Failure('E-MEDIATYPE')
  if (isJson(mediaType) && hasBody(request)) throw invalid('', 'must be the bytes themselves, not JSON')
  assertPlainEncoding(request)
  cutWhenTooSlow(request, clock)
  if (mediaType === 'multipart/form-data') return openFormPart(request)
  const declaredLength = lengthOf(request)
  return {
    stream: request,
    contentType: request.headers['content-type'] ?? 'application/octet-stream',
    declaredLength,
    atMostLength: declaredLength,
    fileName: undefined,
  }
}

function lengthOf({ headers }: IncomingMessage): number | undefined {
  const declared = headers['content-length']
  return declared === undefined ? undefined : Number(declared)
}

/** Ends a connection whose sender, not whose reader, has become too slow. */
function cutWhenTooSlow(request: IncomingMessage, clock: Clock): void {
  let cancel = () => {}
  let bytesBefore = request.socket.bytesRead
  const check = () => {
    const { bytesRead } = request.socket
    const isReaderFull = request.readableLength >= request.readableHighWaterMark
    if (!isReaderFull && bytesRead - bytesBefore < minBytesPerCheck) {
      request.destroy(new Error('the upload is too slow'))
      return
    }
    bytesBefore = bytesRead
    cancel = clock.wakeAt(clock.now() + checkEveryMs, check)
  }
  cancel = clock.wakeAt(clock.now() + checkEveryMs, check)
  request.once('end', () => cancel()).once('close', () => cancel())
}

/** Parts and their headers before the one that counts. */
const formLimits = { fields: 50, fieldSize: 64 * 1024, files: 10, parts: 60, headerPairs: 50 }

function openFormPart(request: IncomingMessage): Promise<ByteBody> {
  const { promise, resolve, reject } = Promise.withResolvers<ByteBody>()
  const parser = formParser(request)
  let part: Readable | undefined
  const fail = (error: Error) => {
    reject(error)
    part?.destroy(error)
    request.unpipe(parser)
  }
  parser.on('file', (field, stream, fileName, _encoding, contentType) => {
    if (field !== 'file' || part) {
      stream.resume()
      return
    }
    part = stream
    // The parser emits the error of a truncated part without ending the stream: who reads it later would wait for ever.
    stream.once('error', (error) => stream.destroy(error))
    stream.once('close', () => request.unpipe(parser).resume())
    resolve({
      stream,
      contentType,
      declaredLength: undefined,
      atMostLength: lengthOf(request),
      fileName: fileName || undefined,
    })
  })
  parser.on('error', (cause) => fail(part ? asError(cause) : invalid('', 'is not a multipart form')))
  parser.on('finish', () =>
    reject(invalid('/file', 'is required: a form part with this name holds the bytes')),
  )
  request.on('error', fail)
  request.pipe(parser)
  return promise
}

function formParser(request: IncomingMessage): BusboyInstance {
  const contentType = request.headers['content-type'] ?? ''
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: formLimits,
      isPartAFile: (field, type, fileName) =>
        field === 'file' || fileName !== undefined || type === 'application/octet-stream',
    })
  } catch {
    throw invalid('', 'is not a multipart form')
  }
}

function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause))
}
