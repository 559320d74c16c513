import {
  type CallableContract,
  type Contract,
  type DataOf,
  encodeBody,
  encodePath,
  gatewayPath,
  type RequestOf,
  type RequestParts,
} from '@kith/protocol'
import { errorFrom } from './kith-error.ts'
import { assertBaseUrl } from './realtime/base-url.ts'
import { type Bytes, type UploadProgress, uploadBytes } from './upload.ts'

export interface ClientOptions {
  /** The origin of the tenant, for instance `https://alice.example.com`. */
  readonly baseUrl: string
  /** A bearer token, or a function that returns the current one; it is called for each request. */
  readonly token?: string | (() => string | undefined)
  /** The global `fetch` when absent. */
  readonly fetch?: typeof fetch
}

export interface CallOptions {
  readonly signal?: AbortSignal
}

/** Where the next page of a list begins. */
interface Pagination {
  readonly cursorPagination?: { readonly nextCursor: string | null; readonly hasMore: boolean }
  readonly pagination?: {
    readonly total: number
    readonly offset: number
    readonly limit: number
    readonly hasMore: boolean
  }
}

/** The result of a call: the payload; for lists also the pagination; for bytes the whole `Response`. */
export type Answered<C extends Contract> = C['reply'] extends { kind: 'list' }
  ? { readonly data: readonly DataOf<C>[] } & Pagination
  : C['reply'] extends { kind: 'bytes' }
    ? { readonly data: Response }
    : { readonly data: DataOf<C> }

type Call<C extends Contract> =
  Record<never, never> extends RequestOf<C>
    ? [request?: RequestOf<C>, options?: CallOptions]
    : [request: RequestOf<C>, options?: CallOptions]

type ListContract = Contract & { readonly reply: { readonly kind: 'list' } }
type UploadContract = Contract & { readonly body: { readonly kind: 'bytes' } }

/** The content of an upload, and its progress callback. */
export interface UploadOptions extends CallOptions {
  readonly contentType?: string
  readonly onProgress?: (progress: UploadProgress) => void
}

export interface Client {
  /** Calls an endpoint. Throws a `KithError` when the server answers with an error. */
  call<C extends Contract>(contract: C, ...call: Call<C>): Promise<Answered<C>>
  /** Yields the pages of a list; each is requested when the one before has been processed. */
  pages<C extends ListContract>(
    contract: C,
    ...call: Call<C>
  ): AsyncGenerator<readonly DataOf<C>[], void, undefined>
  /** Calls an endpoint whose body is bytes. */
  upload<C extends UploadContract>(
    contract: C,
    request: RequestOf<C> & { readonly body: Bytes },
    options?: UploadOptions,
  ): Promise<Answered<C>>
  /** A client that calls the host of another identity through the gateway of this tenant, with the same token. Only
   * contracts with `gateway` answer there. */
  at(idTag: string): Client
}

/** Makes a client of one tenant. Throws a `TypeError` unless `baseUrl` is an http or https URL. */
export function createClient(options: ClientOptions): Client {
  assertBaseUrl(options.baseUrl)
  return clientOf(options, (path) => path)
}

/** `place` says where on the tenant's host the path of an endpoint is. */
function clientOf(options: ClientOptions, place: (path: string) => string): Client {
  const { send, upload } = senderOf(options, place)

  async function call<C extends Contract>(
    contract: C,
    ...[request, callOptions = {}]: Call<C>
  ): Promise<Answered<C>> {
    return (await send(contract, request ?? {}, callOptions)) as Answered<C>
  }

  async function* pages<C extends ListContract>(contract: C, ...[request, callOptions = {}]: Call<C>) {
    const parts: RequestParts = request ?? {}
    let asked = parts
    while (true) {
      const page = (await send(contract, asked, callOptions)) as Pagination & { data: readonly DataOf<C>[] }
      yield page.data
      const next = placeAfter(page)
      if (!next) return
      asked = { ...parts, query: { ...asked.query, ...next } }
    }
  }

  return {
    call,
    pages,
    upload,
    at: (idTag) => clientOf(options, (path) => gatewayPath(path, encodeURIComponent(idTag))),
  }
}

function senderOf(options: ClientOptions, place: (path: string) => string) {
  const urlFor = (contract: CallableContract, parts: RequestParts) =>
    options.baseUrl.replace(/\/+$/, '') + place(encodePath(contract, parts))
  const send = async (contract: CallableContract, parts: RequestParts, { signal }: CallOptions) => {
    const body = encodeBody(contract, parts.body)
    const response = await (options.fetch ?? fetch)(urlFor(contract, parts), {
      method: contract.method,
      headers: headersFor(options, parts, body?.type),
      ...(body ? { body: body.text } : {}),
      ...(signal ? { signal } : {}),
    })
    if (contract.reply.kind === 'bytes' && response.ok) return { data: response }
    return payloadOf(contract, response.status, (name) => response.headers.get(name), await response.text())
  }
  const upload: Client['upload'] = async (contract, request, uploadOptions = {}) => {
    const { contentType, onProgress, signal } = uploadOptions
    const parts: RequestParts = request
    const { status, headerOf, text } = await uploadBytes({
      url: urlFor(contract, parts),
      method: contract.method,
      headers: headersFor(options, parts, contentType ?? typeOf(request.body)),
      body: request.body,
      fetch: options.fetch ?? fetch,
      ...(onProgress ? { onProgress } : {}),
      ...(signal ? { signal } : {}),
    })
    return payloadOf(contract, status, headerOf, text) as Answered<typeof contract>
  }
  return { send, upload }
}

/** The query parameters for the next page; undefined after the last one. */
function placeAfter({
  data,
  cursorPagination,
  pagination,
}: Pagination & { readonly data: readonly unknown[] }): { cursor: string } | { offset: number } | undefined {
  if (cursorPagination?.nextCursor) return { cursor: cursorPagination.nextCursor }
  return pagination?.hasMore && data.length > 0 ? { offset: pagination.offset + data.length } : undefined
}

function typeOf(body: Bytes): string {
  return body instanceof Blob && body.type !== '' ? body.type : 'application/octet-stream'
}

function headersFor({ token }: ClientOptions, parts: RequestParts, contentType: string | undefined) {
  const bearer = typeof token === 'function' ? token() : token
  const own = Object.entries(parts.headers ?? {}).filter(([, value]) => value !== undefined)
  return {
    ...Object.fromEntries(own.map(([name, value]) => [name, String(value)])),
    accept: 'application/json',
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    ...(contentType === undefined ? {} : { 'content-type': contentType }),
  }
}

function payloadOf(
  { reply }: CallableContract,
  status: number,
  headerOf: (name: string) => string | null,
  text: string,
): object {
  if (status < 200 || status > 299) throw errorFrom(status, headerOf, text)
  if (reply.kind === 'empty') return { data: undefined }
  const body: unknown = JSON.parse(text)
  return reply.kind === 'bare' ? { data: body } : (body as object)
}
