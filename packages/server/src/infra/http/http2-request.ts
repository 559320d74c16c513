import {
  constants,
  Http2ServerRequest,
  type Http2Stream,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import type { ReadableOptions } from 'node:stream'

const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR } = constants

/** A request over HTTP/2 in the form of HTTP/1.1, in which the rest of the server reads requests (RFC 9113 section 8.3.1): one
 * host, no pseudo-headers, and a body announced by a header. Its socket is the stream's part of the connection. */
export class Http2Request extends Http2ServerRequest {
  /** As they are counted by RFC 9113 section 10.5.1. */
  readonly headerBytes: number
  readonly #stream: ServerHttp2Stream
  readonly #socket: StreamSocket

  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    options: ReadableOptions,
    rawHeaders: readonly string[],
  ) {
    super(stream, headers, options, rawHeaders)
    this.#stream = stream
    this.#socket = new StreamSocket(stream)
    // As over HTTP/1, a client that disconnects must not raise an uncaught error.
    this.on('error', () => undefined)
    const form = formOf(headers, rawHeaders, stream.endAfterHeaders)
    this.headerBytes = form.bytes
    const own = (value: unknown) => ({ value, writable: true, configurable: true })
    Object.defineProperties(this, {
      headers: own(form.headers),
      rawHeaders: own(form.rawHeaders),
      httpVersion: own('1.1'),
      socket: own(this.#socket),
      connection: own(this.#socket),
      complete: { get: () => this.#isWhole() },
    })
  }

  countWritten(bytes: number): void {
    this.#socket.bytesWritten += bytes
  }

  // A body that breaks off must not look like one that has ended.
  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    if (chunk === null && !this.#isWhole()) {
      if (!this.destroyed) this.destroy(new Error('aborted'))
      return false
    }
    if (chunk instanceof Uint8Array) this.#socket.bytesRead += chunk.byteLength
    return super.push(chunk, encoding)
  }

  override _read(size: number): void {
    if (!this.#stream.destroyed && !this.#stream.closed) super._read(size)
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.#isWhole()) this.#stream.close(error ? NGHTTP2_INTERNAL_ERROR : NGHTTP2_CANCEL)
    // What is told of the answer's end comes first, as over HTTP/1.
    if (this.#stream.destroyed) callback(error)
    else this.#stream.once('close', () => callback(error))
  }

  #isWhole(): boolean {
    return this.#stream.endAfterHeaders || this.#stream.readableEnded
  }
}

/** What is asked of a request's socket, for one stream: other requests share the connection. */
class StreamSocket {
  readonly encrypted = true
  readonly remoteAddress: string | undefined
  bytesRead = 0
  bytesWritten = 0
  readonly #stream: Http2Stream

  constructor(stream: Http2Stream) {
    this.#stream = stream
    this.remoteAddress = stream.session?.socket.remoteAddress
  }

  get destroyed(): boolean {
    return this.#stream.destroyed || this.#stream.closed
  }

  setTimeout(ms: number): void {
    this.#stream.setTimeout(ms)
  }

  destroy(): void {
    this.#stream.close(NGHTTP2_CANCEL)
  }

  resetAndDestroy(): void {
    this.#stream.close(NGHTTP2_INTERNAL_ERROR)
  }
}

interface Form {
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: string[]
  readonly bytes: number
}

const bytesPerHeader = 32

function formOf(received: IncomingHttpHeaders, raw: readonly string[], hasNoBody: boolean): Form {
  const headers: Record<string, string | string[] | undefined> = {}
  for (const name in received) if (!name.startsWith(':')) headers[name] = trimmed(received[name])
  const authority = received[':authority']
  const rawHeaders: string[] = []
  let bytes = 0
  for (let at = 0; at < raw.length; at += 2) {
    const [name, value] = [raw[at] as string, trimmed(raw[at + 1] as string)]
    bytes += name.length + value.length + bytesPerHeader
    // A `host` that says the same again is no second host. Cookies may come in pieces (RFC 9113 section 8.2.3).
    const isKnown = (name === 'host' && value === authority) || name === 'cookie'
    if (!name.startsWith(':') && !isKnown) rawHeaders.push(name, value)
  }
  const add = (name: string, value: string) => {
    headers[name] = value
    rawHeaders.push(name, value)
  }
  if (headers.cookie !== undefined) add('cookie', String(headers.cookie))
  if (authority !== undefined) add('host', authority)
  // No such header comes over HTTP/2 (RFC 9113 section 8.2.2): it is this server's own word for a body of unknown length.
  if (!hasNoBody && headers['content-length'] === undefined) add('transfer-encoding', 'chunked')
  return { headers, rawHeaders, bytes }
}

/** Without white space around it, as it comes over HTTP/1. */
function trimmed<Value extends string | string[] | undefined>(value: Value): Value {
  return (typeof value === 'string' ? value.trim() : value) as Value
}
