import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { S3Credentials, S3Location } from '#infra/config/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Secret } from '#lib/secret.ts'
import { signatureTrouble } from './s3-signed-request.ts'

/** A request as S3 sees it. */
export interface S3Request {
  readonly method: string
  readonly key: string
  readonly query: URLSearchParams
  readonly range: string | undefined
}

/** What the store does instead of answering: an error, nothing at all, a part of the answer, or the whole for a part. */
export type S3Fault =
  | { readonly status: number; readonly code: string; readonly paddingBytes?: number }
  | 'silence'
  | 'no ranges'
  | { readonly breakAfterBytes: number }

interface StoredObject {
  readonly bytes: Buffer
  readonly modifiedAtMs: number
}

interface PartialUpload {
  readonly key: string
  readonly startedAtMs: number
  readonly parts: Map<number, Buffer>
}

const bucket = 'kith-test'
const accessKeyId = 'TESTKEY'

/** The S3 interface as far as a blob store uses it, in memory, with an injected clock and with faults. Whether it is like
 * the real ones, the same tests tell on the server at TEST_S3_URL. */
export class S3Server implements AsyncDisposable {
  readonly objects = new Map<string, StoredObject>()
  readonly uploads = new Map<string, PartialUpload>()
  readonly requests: S3Request[] = []
  /** Asked before each answer. */
  fault: (request: S3Request) => S3Fault | undefined = () => undefined
  readonly credentials: S3Credentials = { accessKeyId, secretAccessKey: new Secret('hidden-secret') }
  readonly #server: Server
  readonly #clock: Pick<Clock, 'now'>
  readonly #maxKeys: number
  // As many as a test asks for at once.
  readonly #sending = new Set<ServerResponse>()

  private constructor(clock: Pick<Clock, 'now'>, maxKeys: number) {
    this.#clock = clock
    this.#maxKeys = maxKeys
    this.#server = createServer((request, response) => {
      this.#sending.add(response)
      response.once('close', () => this.#sending.delete(response))
      // A client that was cut off by a fault sends no more.
      this.#answer(request, response).catch(() => response.destroy())
    })
  }

  static async start({
    clock = Date,
    maxKeys = 1000,
  }: {
    clock?: Pick<Clock, 'now'>
    maxKeys?: number
  } = {}) {
    const server = new S3Server(clock, maxKeys)
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get location(): S3Location {
    const place = { kind: 's3', bucket, prefix: 'blobs', region: 'eu-test-1' } as const
    return { ...place, endpoint: this.endpoint, pathStyle: true, checksums: 'supported', redirects: 'public' }
  }

  /** What a server is told to use it. */
  get environment(): Record<string, string> {
    return {
      BLOB_STORE: `s3://${bucket}/blobs?endpoint=${this.endpoint}&region=eu-test-1&pathStyle=true`,
      S3_ACCESS_KEY_ID: accessKeyId,
      S3_SECRET_ACCESS_KEY: this.credentials.secretAccessKey.reveal(),
    }
  }

  dropConnections(): void {
    this.#server.closeAllConnections()
  }

  /** How many answers are on their way. */
  get sending(): number {
    return this.#sending.size
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const url = new URL(message.url ?? '/', this.endpoint)
    const [, inBucket = '', ...rest] = decodeURIComponent(url.pathname).split('/')
    const { method = '', headers } = message
    const request = { method, key: rest.join('/'), query: url.searchParams, range: headers.range }
    const body = await buffer(message)
    this.requests.push(request)
    const fault = this.fault(request)
    if (fault === 'silence') return
    if (typeof fault === 'object' && 'status' in fault) {
      const { status, code, paddingBytes = 0 } = fault
      return xml(response, 'Error', `${' '.repeat(paddingBytes)}<Code>${code}</Code>`, status)
    }
    const stranger = this.#refusalOf(message, url)
    if (stranger) return refuse(response, 403, stranger, method === 'HEAD')
    if (inBucket !== bucket) return refuse(response, 404, 'NoSuchBucket')
    if (request.key === '') return this.#answerForBucket(request, response)
    if (request.query.has('uploads') || request.query.has('uploadId'))
      return this.#answerForUpload(request, body, response)
    const asked = fault === 'no ranges' ? { ...request, range: undefined } : request
    const breakAfterBytes = typeof fault === 'object' ? fault.breakAfterBytes : undefined
    return this.#answerForObject(asked, body, { response, breakAfterBytes })
  }

  /** Headers are believed for their key; an address that is signed is anybody's and looked at closely. */
  #refusalOf({ method = '', url: target = '', headers }: IncomingMessage, url: URL): string | undefined {
    if (headers.authorization?.includes(`Credential=${accessKeyId}/`)) return undefined
    if (!url.searchParams.get('X-Amz-Credential')?.startsWith(`${accessKeyId}/`)) return 'InvalidAccessKeyId'
    const secret = this.credentials.secretAccessKey.reveal()
    return signatureTrouble({ method, target, host: headers.host ?? '', secret, nowMs: this.#clock.now() })
  }

  #answerForBucket({ method, query }: S3Request, response: ServerResponse): unknown {
    if (method === 'HEAD') return response.writeHead(200).end()
    const prefix = query.get('prefix') ?? ''
    if (query.has('uploads')) {
      const uploads = [...this.uploads].filter(([, { key }]) => key.startsWith(prefix))
      const listed = uploads.map(
        ([id, { key, startedAtMs }]) =>
          `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${iso(startedAtMs)}</Initiated></Upload>`,
      )
      return xml(response, 'ListMultipartUploadsResult', listed.join(''))
    }
    const after = query.get('continuation-token') ?? ''
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
    const page = keys.slice(0, this.#maxKeys)
    const listed = page.map((key) => {
      const { bytes, modifiedAtMs } = this.objects.get(key) ?? { bytes: '', modifiedAtMs: 0 }
      return `<Contents><Key>${key}</Key><Size>${bytes.length}</Size><LastModified>${iso(modifiedAtMs)}</LastModified></Contents>`
    })
    const more = page.length < keys.length
    const token = more ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
    return xml(response, 'ListBucketResult', `<IsTruncated>${more}</IsTruncated>${token}${listed.join('')}`)
  }

  #answerForUpload({ method, key, query }: S3Request, body: Buffer, response: ServerResponse): unknown {
    if (query.has('uploads')) {
      const id = randomBytes(8).toString('hex')
      this.uploads.set(id, { key, startedAtMs: this.#clock.now(), parts: new Map() })
      return xml(response, 'InitiateMultipartUploadResult', `<UploadId>${id}</UploadId>`)
    }
    const id = query.get('uploadId') ?? ''
    const upload = this.uploads.get(id)
    if (!upload) return refuse(response, 404, 'NoSuchUpload')
    if (method === 'PUT') {
      upload.parts.set(Number(query.get('partNumber')), body)
      return response.writeHead(200, { etag: etagOf(body) }).end()
    }
    this.uploads.delete(id)
    if (method === 'DELETE') return response.writeHead(204).end()
    const parts = [...upload.parts].sort(([one], [other]) => one - other)
    this.#put(key, Buffer.concat(parts.map(([, bytes]) => bytes)))
    return xml(response, 'CompleteMultipartUploadResult', `<Key>${key}</Key>`)
  }

  #answerForObject(
    { method, key, range, query }: S3Request,
    body: Buffer,
    {
      response,
      breakAfterBytes,
    }: { readonly response: ServerResponse; readonly breakAfterBytes: number | undefined },
  ): unknown {
    if (method === 'PUT') {
      this.#put(key, body)
      return response.writeHead(200, { etag: etagOf(body) }).end()
    }
    const found = this.objects.get(key)
    if (method === 'DELETE') {
      this.objects.delete(key)
      return response.writeHead(204).end()
    }
    if (!found) return refuse(response, 404, 'NoSuchKey', method === 'HEAD')
    const [, start = 0, end = found.bytes.length - 1] =
      /^bytes=(\d+)-(\d+)$/.exec(range ?? '')?.map(Number) ?? []
    const bytes = found.bytes.subarray(start, end + 1)
    const answered = { 'content-length': bytes.length, etag: etagOf(found.bytes), ...askedHeaders(query) }
    response.writeHead(range === undefined ? 200 : 206, answered)
    if (method === 'HEAD') return response.end()
    if (breakAfterBytes === undefined || breakAfterBytes >= bytes.length) return response.end(bytes)
    return response.write(bytes.subarray(0, breakAfterBytes), () => response.destroy())
  }

  #put(key: string, bytes: Buffer): void {
    this.objects.set(key, { bytes, modifiedAtMs: this.#clock.now() })
  }
}

const iso = (ms: number) => new Date(ms).toISOString()
const etagOf = (bytes: Buffer) => `"${createHash('md5').update(bytes).digest('hex')}"`

/** Those that a signed request asks for. */
function askedHeaders(query: URLSearchParams): Record<string, string> {
  const asked = [...query].filter(([name]) => name.startsWith('response-'))
  return Object.fromEntries(asked.map(([name, value]) => [name.slice('response-'.length), value]))
}

function xml(response: ServerResponse, root: string, content: string, status = 200): unknown {
  response.writeHead(status, { 'content-type': 'application/xml' })
  return response.end(`<?xml version="1.0" encoding="UTF-8"?><${root}>${content}</${root}>`)
}

function refuse(response: ServerResponse, status: number, code: string, isBare = false): unknown {
  if (isBare) return response.writeHead(status).end()
  return xml(response, 'Error', `<Code>${code}</Code><Message>${code}</Message>`, status)
}
