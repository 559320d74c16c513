import { comesBackAfter, socketCloses } from '@kith/protocol'
import { createBackoff } from './backoff.ts'

/** The parts of a WebSocket that are used: the platform's is one. */
export interface SocketLike {
  binaryType?: string
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
  send(data: string | Uint8Array<ArrayBuffer>): void
  close(): void
}

/** What every connection to a server takes. */
export interface ConnectionOptions {
  /** Where the tenant lives, for instance `https://alice.example.com`. */
  readonly baseUrl: string
  /** The bearer, or what gives the present one: it is asked for each connection, so that a token may be renewed. None for
   * guests. */
  readonly token?: string | (() => string | Promise<string>)
  /** Instead of the platform’s. */
  readonly connect?: (url: string) => SocketLike
  /** The wait before the first attempt to reconnect, and the longest one. */
  readonly retry?: { readonly firstMs: number; readonly longestMs: number }
}

/** `ended`: it does not reconnect; `code` says why (see `socketCloses` of the protocol). */
export type ConnectionState =
  | { readonly kind: 'connecting' | 'open' }
  | { readonly kind: 'ended'; readonly code: number; readonly reason: string }

/** What is spoken on a connection. */
export interface SocketProtocol {
  /** Path and query, for the next connection. */
  target(): string
  /** A connection is there: greetings go first. It counts as open when this is done. */
  opened(): void | Promise<void>
  received(data: string | Uint8Array<ArrayBuffer>): void
  /** The connection is gone, and what was asked on it will not be answered. */
  lost(reason: string): void
  /** Asks for a sign of life, which may be any message. */
  ping(): void
  stateChanged(state: ConnectionState): void
}

const defaultRetry = { firstMs: 500, longestMs: 30_000 }
// A connection that broke without a word is noticed by this: browsers do not show the server's pings.
const silenceMs = 30_000
const pongWithinMs = 10_000
// Shorter ones are no sign that the server is well again.
const steadyAfterMs = 10_000

/** A connection that is made anew after each interruption, with waits that grow, until the server says that this is of no
 * use or the client closes it. */
export class ReconnectingSocket {
  readonly #options: ConnectionOptions
  readonly #protocol: SocketProtocol
  readonly #backoff: ReturnType<typeof createBackoff>
  #socket: SocketLike | undefined
  #isThere = false
  #state: ConnectionState = { kind: 'connecting' }
  #bearer: string | undefined
  // A bearer that was refused is worth another try where another may be had.
  #refused:
    | { readonly bearer: string | undefined; readonly code: number; readonly reason: string }
    | undefined
  #silence: ReturnType<typeof setTimeout> | undefined
  #timers: ReturnType<typeof setTimeout>[] = []

  constructor(options: ConnectionOptions, protocol: SocketProtocol) {
    this.#options = options
    this.#protocol = protocol
    this.#backoff = createBackoff(options.retry ?? defaultRetry)
    // The caller has its hands free first.
    queueMicrotask(() => void this.#connect())
  }

  get state(): ConnectionState {
    return this.#state
  }

  /** False when there is no connection now. */
  send(data: string | Uint8Array<ArrayBuffer>): boolean {
    if (!this.#isThere) return false
    this.#socket?.send(data)
    return true
  }

  /** Ends the connection for good. */
  close(): void {
    this.#end(1000, 'closed by the client')
  }

  async #connect(): Promise<void> {
    if (this.#state.kind === 'ended') return
    this.#enter({ kind: 'connecting' })
    try {
      const { token } = this.#options
      this.#bearer = typeof token === 'function' ? await token() : token
      if (this.#hasEnded()) return
      if (this.#refused && this.#refused.bearer === this.#bearer) {
        this.#end(this.#refused.code, this.#refused.reason)
        return
      }
      this.#listen((this.#options.connect ?? connectPlatform)(this.#url()))
    } catch {
      this.#comeBack()
    }
  }

  #url(): string {
    const origin = this.#options.baseUrl.replace(/^http/, 'ws').replace(/\/+$/, '')
    const target = this.#protocol.target()
    if (this.#bearer === undefined) return origin + target
    return `${origin}${target}${target.includes('?') ? '&' : '?'}token=${encodeURIComponent(this.#bearer)}`
  }

  #listen(socket: SocketLike): void {
    this.#socket = socket
    socket.binaryType = 'arraybuffer'
    socket.onopen = () => void this.#onOpen(socket)
    socket.onmessage = ({ data }: { data: unknown }) => {
      if (this.#socket !== socket) return
      this.#watchForSilence()
      this.#protocol.received(data instanceof ArrayBuffer ? new Uint8Array(data) : String(data))
    }
    socket.onclose = ({ code, reason }: { code: number; reason: string }) => {
      if (this.#socket === socket) this.#onClose(code, reason)
    }
    // A close event follows.
    socket.onerror = () => undefined
  }

  async #onOpen(socket: SocketLike): Promise<void> {
    this.#isThere = true
    this.#after(steadyAfterMs, () => {
      this.#backoff.reset()
      this.#refused = undefined
    })
    this.#watchForSilence()
    try {
      await this.#protocol.opened()
      if (this.#socket === socket) this.#enter({ kind: 'open' })
    } catch {
      // It has closed meanwhile, and reconnects.
    }
  }

  #onClose(code: number, reason: string): void {
    this.#drop(reason === '' ? `closed with ${code}` : reason)
    const isFirstRefusal = code === socketCloses.unauthenticated.code && this.#refused === undefined
    if (isFirstRefusal && typeof this.#options.token === 'function') {
      this.#refused = { bearer: this.#bearer, code, reason }
      this.#comeBack()
    } else if (comesBackAfter(code)) this.#comeBack()
    else this.#end(code, reason)
  }

  #comeBack(): void {
    if (this.#hasEnded()) return
    this.#after(this.#backoff.next(), () => void this.#connect())
  }

  #end(code: number, reason: string): void {
    if (this.#hasEnded()) return
    const socket = this.#socket
    this.#drop(reason)
    this.#enter({ kind: 'ended', code, reason })
    socket?.close()
  }

  #drop(reason: string): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer)
    clearTimeout(this.#silence)
    this.#socket = undefined
    if (!this.#isThere) return
    this.#isThere = false
    this.#protocol.lost(reason)
  }

  #watchForSilence(): void {
    clearTimeout(this.#silence)
    this.#silence = setTimeout(() => {
      this.#protocol.ping()
      // The close event may take minutes, so it is not waited for.
      this.#silence = setTimeout(() => this.#lose(), pongWithinMs)
    }, silenceMs)
  }

  #lose(): void {
    const socket = this.#socket
    this.#onClose(1006, 'no answer')
    socket?.close()
  }

  #enter(state: ConnectionState): void {
    this.#state = state
    this.#protocol.stateChanged(state)
  }

  #hasEnded(): boolean {
    return this.#state.kind === 'ended'
  }

  #after(ms: number, act: () => void): void {
    this.#timers.push(setTimeout(act, ms))
  }
}

function connectPlatform(url: string): SocketLike {
  return new WebSocket(url)
}
