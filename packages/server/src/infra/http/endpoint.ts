import type { Readable } from 'node:stream'
import type { BodyOf, Contract, DataOf, HeadersOf, Page, ParamsOf, QueryOf } from '@kith/protocol'
import type { Caller, Guest, Identified, KeyHolder, ReferenceGuest, Tenant } from '#infra/caller/index.ts'
import type { BrowserRequest } from './browser-request.ts'
import type { Outgoing } from './raw-json.ts'

/** The callers that reach a handler, by what its contract lets in. */
type CallerOf<C extends Contract> = C['auth'] extends 'required' | 'personal'
  ? C['guests'] extends true
    ? Identified | ReferenceGuest
    : C['identityKeys'] extends true
      ? Identified | KeyHolder
      : Identified
  : C['auth'] extends 'optional'
    ? Caller
    : Guest

/** The raw request body of `bytes` endpoints. */
export interface ByteBody {
  readonly stream: Readable
  readonly contentType: string
  /** As declared; never trusted as the true length. */
  readonly declaredLength: number | undefined
  /** More cannot come: the length of the form that a part stands in. */
  readonly atMostLength: number | undefined
  /** The file name of a multipart part. */
  readonly fileName: string | undefined
}

/** A token, and the one that was sent beside it. */
export interface TokenBody {
  readonly token: string
  readonly beside?: string
}

/** A request after tenant, rate, credential, scope, role and input have been checked against the contract. */
export interface Call<C extends Contract> {
  readonly tenant: C['anyHost'] extends true ? Tenant | undefined : Tenant
  readonly caller: CallerOf<C>
  readonly params: ParamsOf<C>
  readonly query: QueryOf<C>
  readonly headers: HeadersOf<C>
  readonly body: C['body'] extends { kind: 'bytes' }
    ? ByteBody
    : C['body'] extends { kind: 'jwt'; beside: string }
      ? TokenBody
      : C['body'] extends { kind: 'jwt' }
        ? string
        : BodyOf<C>
  /** The bearer as it was presented. */
  readonly bearer: string | undefined
  /** What concerns cookies, where the contract has to do with them. */
  readonly browser: C['browserCookie'] extends 'set' | 'used' ? BrowserRequest : undefined
  /** Only the headers of the answer are sent. */
  readonly isHead: boolean
  /** The host that the client asked for, in lower case and without port. */
  readonly host: string | undefined
  readonly ip: string
  readonly userAgent: string | undefined
  readonly requestId: string
  /** Aborted when the client goes away or the server stops. */
  readonly signal: AbortSignal
}

/** A streamed answer; `headers` names are lower-case. `body` is opened only for GET (never for HEAD or 304). One of 307
 * has none, and says where the bytes are. */
export interface ByteReply {
  readonly status: 200 | 206 | 304 | 307
  readonly headers: Readonly<Record<string, string>>
  readonly body?: () => Promise<Readable>
}

/** What a handler answers. `list` contracts answer a page; a `Reshaped` changes status or headers of the answer. */
export type Answer<C extends Contract> = C['reply'] extends { kind: 'bytes' }
  ? ByteReply
  : C['reply'] extends { kind: 'list' }
    ? Page<Outgoing<DataOf<C>>>
    : C['reply'] extends { kind: 'empty' }
      ? // biome-ignore lint/suspicious/noConfusingVoidType: what a use case without result resolves to
        void | Reshaped<undefined>
      : Outgoing<DataOf<C>> | Reshaped<Outgoing<DataOf<C>>>

/** An answer with another status (an update where the contract says 201) or with headers. With an `etag` it becomes
 * a 304 for a client that has it already. */
export class Reshaped<Data> {
  readonly data: Data
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  constructor(data: Data, options: { status?: number; headers?: Readonly<Record<string, string>> }) {
    this.data = data
    this.status = options.status
    this.headers = options.headers ?? {}
  }
}

export type Handler<C extends Contract> = (call: Call<C>) => Promise<Answer<C>>

/** A contract bound to the use case that fulfils it. */
export interface Endpoint {
  readonly contract: Contract
  readonly handle: Handler<Contract>
}

export function bind<const C extends Contract>(contract: C, handle: Handler<C>): Endpoint {
  return { contract, handle: handle as unknown as Handler<Contract> }
}
