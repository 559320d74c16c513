import type { Readable } from 'node:stream'

/** A body that is read once the connection stands and the headers have left. What `read` throws ends the request before
 * anything of it has. */
export interface LateBody {
  readonly bytes: number
  read(): Promise<Uint8Array>
}

/** A body that is passed on as it arrives, of `bytes` where that is known. */
export interface PassedBody {
  readonly bytes: number | undefined
  readonly stream: Readable
}

export interface EgressRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | LateBody | PassedBody
  /** Whole request with its answer; 10 s when absent. */
  readonly timeoutMs?: number
  /** Answer size; 1 MiB when absent. */
  readonly maxBytes?: number
  /** A redirect is a failure, whatever the method. */
  readonly refusesRedirects?: true
  readonly signal?: AbortSignal
}

/** A request of whose answer no body is read, and no redirect followed. */
export type HeadRequest = Omit<EgressRequest, 'maxBytes' | 'refusesRedirects'>

export interface EgressAnswer {
  readonly status: number
  /** Lower-case names; repeated headers are joined. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** What stands before the body. */
export type EgressHead = Omit<EgressAnswer, 'body'>

export interface EgressStream extends Omit<EgressAnswer, 'body'> {
  readonly body: Readable
}

/** Why a request did not get an answer. `refused` is policy (address, scheme, port, userinfo, compression); it is never
 * retried. `overloaded`: this server has too many requests in progress, and nothing was sent. `unknown-host`: the DNS says
 * that the name does not exist; `dns`: it gave no answer. The message may be shown to the client: addresses inside this
 * network stand in the cause alone. */
export class EgressError extends Error {
  readonly reason:
    | 'refused'
    | 'unknown-host'
    | 'dns'
    | 'connect'
    | 'tls'
    | 'timeout'
    | 'too-large'
    | 'redirect'
    | 'aborted'
    | 'overloaded'
  constructor(reason: EgressError['reason'], message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'EgressError'
    this.reason = reason
  }
}

/** The one HTTP client for everything that leaves the server (docs/operations/outbound-requests.md). */
export interface Egress {
  /** Any HTTP status is an answer; only what prevents an answer throws `EgressError`. */
  request(request: EgressRequest): Promise<EgressAnswer>
  /** The same with the answer's body as a stream, still bounded by `maxBytes` and a minimum rate. */
  stream(request: EgressRequest): Promise<EgressStream>
  /** For those who need the status alone: answers as soon as the head is there. Whatever body follows is thrown away, and
   * a redirect is an answer like others. */
  requestHead(request: HeadRequest): Promise<EgressHead>
  /** Ends every request with `aborted`; later ones fail in the same way. */
  close(): Promise<void>
}

/** Tells whether an address from a client (a push endpoint, for instance) could be called. */
export interface UrlCheck {
  /** Throws the `EgressError` that a request would fail with before it connects. A request checks again. */
  assertReachable(url: string): Promise<void>
}
