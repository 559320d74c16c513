import { validateHeaderValue } from 'node:http'
import { constants, Http2ServerResponse, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { Http2Request } from './http2-request.ts'

// They belong to a connection (RFC 9113 section 8.2.2).
const connectionHeaders: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
])

// Over HTTP/2 Node writes none of these twice, which others do: the first one counts, as in what it reads.
const singleHeaders: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-max-age',
  'age',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-md5',
  'content-range',
  'content-type',
  'date',
  'dnt',
  'etag',
  'expires',
  'from',
  'host',
  'last-modified',
  'location',
  'max-forwards',
  'referer',
  'retry-after',
  'tk',
  'upgrade-insecure-requests',
  'user-agent',
  'x-content-type-options',
])

type GivenHeaders = OutgoingHttpHeaders | readonly string[]

/** An answer over HTTP/2 that is written as one of HTTP/1.1 is: headers of the connection are left out, and so is the text
 * beside the status. */
export class Http2Response extends Http2ServerResponse<Http2Request> {
  constructor(stream: ServerHttp2Stream) {
    super(stream)
    // A stream that the client resets has finished too, as Node sees it.
    const isFinished = () => this.writableEnded && stream.writableFinished && stream.rstCode === 0
    Object.defineProperties(this, {
      destroyed: { get: () => stream.destroyed || stream.closed },
      writableFinished: { get: isFinished },
    })
  }

  override writeHead(status: number, textOrHeaders?: string | GivenHeaders, given?: GivenHeaders): this {
    const headers = typeof textOrHeaders === 'string' ? given : (textOrHeaders ?? given)
    return super.writeHead(status, passedHeaders(headers ?? {}))
  }

  /** An answer before the final one. */
  writeInformation(status: number, given: GivenHeaders = {}): void {
    if (this.headersSent || this.stream.closed) return
    this.stream.additionalHeaders({ ...passedHeaders(given), [constants.HTTP2_HEADER_STATUS]: status })
  }

  // Without a code of an error what has arrived would look like the whole.
  override destroy(): this {
    if (!this.stream.destroyed) this.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    return this
  }

  // biome-ignore lint/suspicious/noExplicitAny: the overloads of Node's own class
  override write(chunk: any, ...rest: any[]): boolean {
    this.req.countWritten(Buffer.byteLength(chunk))
    return super.write(chunk, ...(rest as []))
  }
}

function passedHeaders(given: GivenHeaders): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {}
  const add = (name: string, value: OutgoingHttpHeaders[string]) => {
    const key = name.toLowerCase()
    if (connectionHeaders.has(key) || value === undefined) return
    // HTTP/2 could carry what HTTP/1 cannot, to clients and proxies that do not expect it.
    for (const text of [value].flat()) validateHeaderValue(key, String(text))
    const before = headers[key]
    if (before === undefined) headers[key] = value
    else if (!singleHeaders.has(key)) headers[key] = [before, value].flat().map(String)
  }
  if (isFlat(given)) for (let at = 0; at < given.length; at += 2) add(given[at] as string, given[at + 1])
  else for (const name in given) add(name, given[name])
  return headers
}

function isFlat(given: GivenHeaders): given is readonly string[] {
  return Array.isArray(given)
}
