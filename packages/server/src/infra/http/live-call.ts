import type { AnyCaller, Tenant } from '#infra/caller/index.ts'
import type { BrowserRequest } from './browser-request.ts'
import { abortSignalOf, type Exchange } from './exchange.ts'

/** The parts of a call that come from the request's input. */
export interface CallInput {
  readonly params: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: unknown
}

/** Who calls, and with which bearer. */
export interface CallOrigin {
  readonly tenant: Tenant | undefined
  readonly caller: AnyCaller
  readonly bearer: string | undefined
  readonly browser: BrowserRequest | undefined
  /** The host that is meant, where the request came to another one. */
  readonly host?: string
}

/** A call as a handler of any contract receives it. What only few handlers look at is made when it is looked at. */
export class LiveCall {
  readonly tenant: Tenant | undefined
  readonly caller: AnyCaller
  readonly bearer: string | undefined
  readonly browser: BrowserRequest | undefined
  readonly params: CallInput['params']
  readonly query: CallInput['query']
  readonly headers: CallInput['headers']
  readonly body: unknown
  // Own members, so that handlers may take a call apart.
  readonly isHead: boolean
  readonly host: string | undefined
  readonly ip: string
  readonly userAgent: string | undefined
  readonly requestId: string
  readonly #exchange: Exchange
  readonly #stopped: AbortSignal
  #signal: AbortSignal | undefined

  constructor(exchange: Exchange, stopped: AbortSignal, origin: CallOrigin, input: CallInput) {
    this.tenant = origin.tenant
    this.caller = origin.caller
    this.bearer = origin.bearer
    this.browser = origin.browser
    this.params = input.params
    this.query = input.query
    this.headers = input.headers
    this.body = input.body
    this.isHead = exchange.request.method === 'HEAD'
    this.host = origin.host ?? exchange.peer.host
    this.ip = exchange.peer.ip
    this.userAgent = exchange.request.headers['user-agent']
    this.requestId = exchange.requestId
    this.#exchange = exchange
    this.#stopped = stopped
  }

  get signal(): AbortSignal {
    this.#signal ??= abortSignalOf(this.#exchange.response, this.#stopped)
    return this.#signal
  }
}
