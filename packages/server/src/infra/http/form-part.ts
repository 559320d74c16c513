import type { IncomingMessage } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { invalid } from '#lib/failure.ts'
import type { ByteBody } from './endpoint.ts'

/** Parts and their headers before the one that counts. */
const formLimits = { fields: 50, fieldSize: 64 * 1024, files: 10, parts: 60, headerPairs: 50 }

/** The part `file` of a multipart form. It ends when the whole form has arrived: a reader that reaches its end knows that
 * nothing was cut off. */
export function openFormPart(request: IncomingMessage, atMostLength: number | undefined): Promise<ByteBody> {
  const { promise, resolve, reject } = Promise.withResolvers<ByteBody>()
  const parser = formParser(request)
  let content: PassThrough | undefined
  const fail = (error: Error) => {
    reject(error)
    content?.destroy(error)
    request.unpipe(parser)
  }
  parser.on('file', (field, part, fileName, _encoding, contentType) => {
    // The parser emits the error of a truncated part on the part as well, and nothing else may be listening by then.
    part.on('error', () => {})
    if (field !== 'file' || content) {
      part.resume()
      return
    }
    content = contentOf(part)
    content.once('close', () => request.unpipe(parser).resume())
    resolve({
      stream: content,
      contentType,
      declaredLength: undefined,
      atMostLength,
      fileName: fileName || undefined,
    })
  })
  parser.on('error', () => fail(invalid('', 'is not a whole multipart form')))
  parser.on('finish', () => {
    reject(invalid('/file', 'is required: a form part with this name holds the bytes'))
    content?.end()
  })
  request.on('error', fail)
  request.pipe(parser)
  return promise
}

function contentOf(part: Readable): PassThrough {
  const content = part.pipe(new PassThrough(), { end: false })
  // The reader gets its errors too, but may not listen yet.
  return content.on('error', () => {})
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
