import type { Contract, DataOf, RequestOf } from '@kith/protocol'
import { encodeBody, encodePath, type RequestParts } from './encode-request.ts'
import { errorFrom } from './kith-error.ts'
import { type Bytes, type UploadProgress, uploadBytes } from './upload.ts'

export interface ClientOptions {
  /** Where the tenant lives, for instance `https://alice.example.com`. */
  readonly baseUrl: string
  /** The bearer, or what gives the present one. */
  readonly token?: string | (() => string | undefined)
  /** Instead of the platform’s. */
  readonly fetch?: typeof fetch
}

export interface CallOptions {
  readonly signal?: AbortSignal
}

/** How a page says where the next one begins. */
interface Pagination {
  readonly cursorPagination?: { readonly nextCursor: string | null; readonly hasMore: boolean }
  readonly pagination?: {
    readonly total: number
    readonly offset: number
    readonly limit: number
    readonly hasMore: boolean
  }
}

/** What a call resolves to: the payload, for lists with the pagination; of bytes the whole `Response`. */
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
  /** Calls an endpoint. Throws a `KithError` when the server answers with a failure. */
  call<C extends Contract>(contract: C, ...call: Call<C>): Promise<Answered<C>>
  /** Goes through the pages of a list, one after the other. */
  pages<C extends ListContract>(
    contract: C,
    ...call: Call<C>
  ): AsyncGenerator<readonly DataOf<C>[], void, undefined>
  /** Sends bytes to an endpoint that takes them. */
  upload<C extends UploadContract>(
    contract: C,
    request: RequestOf<C> & { readonly body: Bytes },
    options?: UploadOptions,
  ): Promise<Answered<C>>
}

/** Makes a client of one server. */
export function createClient(options: ClientOptions): Client {
  const send = async (contract: Contract, parts: RequestParts, { signal }: CallOptions) => {
    const body = encodeBody(contract, parts.body)
    const response = await (options.fetch ?? fetch)(urlFor(options, contract, parts), {
      method: contract.method,
      headers: headersFor(options, parts, body?.type),
      ...(body ? { body: body.text } : {}),
      ...(signal ? { signal } : {}),
    })
    if (contract.reply.kind === 'bytes' && response.ok) return { data: response }
    return payloadOf(contract, response.status, (name) => response.headers.get(name), await response.text())
  }

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
    async upload(contract, request, { contentType, onProgress, signal } = {}) {
      const parts: RequestParts = request
      const { status, headerOf, text } = await uploadBytes({
        url: urlFor(options, contract, parts),
        method: contract.method,
        headers: headersFor(options, parts, contentType ?? typeOf(request.body)),
        body: request.body,
        fetch: options.fetch ?? fetch,
        ...(onProgress ? { onProgress } : {}),
        ...(signal ? { signal } : {}),
      })
      return payloadOf(contract, status, headerOf, text) as Answered<typeof contract>
    },
  }
}

/** What asks for the page after this one; undefined after the last. */
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

function urlFor({ baseUrl }: ClientOptions, contract: Contract, parts: RequestParts): string {
  return baseUrl.replace(/\/+$/, '') + encodePath(contract, parts)
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
  { reply }: Contract,
  status: number,
  headerOf: (name: string) => string | null,
  text: string,
): object {
  if (status < 200 || status > 299) throw errorFrom(status, headerOf, text)
  if (reply.kind === 'empty') return { data: undefined }
  const body: unknown = JSON.parse(text)
  return reply.kind === 'bare' ? { data: body } : (body as object)
}
