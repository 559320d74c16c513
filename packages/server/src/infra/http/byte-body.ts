import type { IncomingMessage } from 'node:http'
import type { Clock } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import type { ByteBody } from './endpoint.ts'
import { openFormPart } from './form-part.ts'
import { assertPlainEncoding, hasBody, mediaTypeOf } from './json-body.ts'

const checkEveryMs = 30_000
/** Slower uploads than this hold a connection for nothing (docs/protocol/conventions.md, Bounds). */
const minBytesPerCheck = 3_000

interface TakenBytes {
  /** Raw bytes of this type alone. */
  readonly only: string | undefined
  /** JSON is refused with 400 instead of 415. */
  readonly isJsonInvalid: boolean
}

/** The body of an upload as a stream: the raw bytes, or the part `file` of a multipart form. */
export async function openByteBody(
  request: IncomingMessage,
  clock: Clock,
  { only, isJsonInvalid }: TakenBytes,
): Promise<ByteBody> {
  const mediaType = mediaTypeOf(request)
  if (only !== undefined && mediaType !== only) throw new Failure('E-MEDIATYPE')
  if (mediaType === 'application/json' && hasBody(request)) {
    if (!isJsonInvalid) throw new Failure('E-MEDIATYPE')
    throw invalid(
      '/headers/content-type',
      'must not be application/json: send a JSON file as application/octet-stream, in a form, or in pieces to /api/uploads',
    )
  }
  assertPlainEncoding(request)
  cutWhenTooSlow(request, clock)
  if (mediaType === 'multipart/form-data') return openFormPart(request, lengthOf(request))
  // Of several parts it would be unclear which is the file; but a web page with its pictures is one.
  if (mediaType?.startsWith('multipart/') && mediaType !== 'multipart/related')
    throw new Failure('E-MEDIATYPE')
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
