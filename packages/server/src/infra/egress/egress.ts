import type { Readable } from 'node:stream'

export interface EgressRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Whole request with its answer; 10 s when absent. */
  readonly timeoutMs?: number
  /** Answer size; 1 MiB when absent. */
  readonly maxBytes?: number
  readonly signal?: AbortSignal
}

export interface EgressAnswer {
  readonly status: number
  /** Lower-case names; repeated headers are joined. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface EgressStream extends Omit<EgressAnswer, 'body'> {
  readonly body: Readable
}

/** Why a request did not get an answer. `refused` is policy (address, scheme, port, userinfo); it is never retried. */
export class EgressError extends Error {
  readonly reason: 'refused' | 'dns' | 'connect' | 'tls' | 'timeout' | 'too-large' | 'redirect' | 'aborted'
  constructor(reason: EgressError['reason'], message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'EgressError'
    this.reason = reason
  }
}

/** The one HTTP client for everything that leaves the server (DECISIONS part 11). */
export interface Egress {
  /** Any HTTP status is an answer; only what prevents an answer throws `EgressError`. */
  request(request: EgressRequest): Promise<EgressAnswer>
  /** The same with the answer's body as a stream, still bounded by `maxBytes` and a minimum rate. */
  stream(request: EgressRequest): Promise<EgressStream>
  close(): Promise<void>
}
