import { comesBackAfter, socketCloses } from '@kith/protocol'
import { createBackoff } from './backoff.ts'
import { socketUrl } from './base-url.ts'
import { notify } from './notify.ts'

/** The members of the standard `WebSocket` that the client uses. */
export interface SocketLike {
  binaryType?: string
  readonly bufferedAmount?: number
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
  send(data: string | Uint8Array<ArrayBuffer>): void
  close(): void
}

/** Options of every realtime connection. */
export interface ConnectionOptions {
  /** The origin of the tenant, for instance `https://alice.example.com`. */
  readonly baseUrl: string
  /** The identity at whose host the file is, where `baseUrl` is the origin of another tenant: the connection then goes through
   * the gateway of that tenant, with its owner's token. */
  readonly at?: string
  /** A bearer token, or a function that returns one. The function is called before each attempt to connect, so it can renew
   * an expired token. Absent for guests. */
  readonly token?: string | (() => string | Promise<string>)
  /** Makes the WebSocket; the global `WebSocket` when absent. */
  readonly connect?: (url: string) => SocketLike
  /** The first and the longest delay before reconnecting, in ms; 500 and 30 000 when absent. */
  readonly retry?: { readonly firstMs: number; readonly longestMs: number }
  /** Called before each delay, with the reason: the error of the token function, or why the connection failed. */
  readonly onRetry?: (retry: { readonly error: Error; readonly delayMs: number }) => void
}

/** `connecting` also while it waits to reconnect. `ended` is final: `code` is a WebSocket close code (`socketCloses` in
 * `@kith/protocol`; 1000 after `close()`). */
export type ConnectionState =
  | { readonly kind: 'connecting' | 'open' }
  | { readonly kind: 'ended'; readonly code: number; readonly reason: string }

/** The message protocol that runs over a `ReconnectingSocket`: methods called on its events. */
export interface SocketProtocol {
  /** Path and query of the URL for the next attempt to connect. */
  target(): string
  /** The WebSocket has opened. The state becomes `open` when this resolves. */
  opened(): void | Promise<void>
  /** A message arrived: text, or bytes of a binary frame. Throws when it is none of the protocol. */
  received(data: string | Uint8Array<ArrayBuffer>): void
  /** The WebSocket has closed: pending requests get no answer. */
  lost(reason: string): void
  /** Sends a message that the server answers. Called after a period without messages, to detect a dead connection. */
  ping(): void
  /** Whether an answer is pending that may take minutes on a slow line. */
  awaitsLargeAnswer?(): boolean
  stateChanged(state: ConnectionState): void
}

const defaultRetry = { firstMs: 500, longestMs: 30_000 }
// Detects connections that broke without a close event. Browsers do not expose the server's ping frames, so the client
// sends a request of its own after this time without a message.
const silenceMs = 30_000
const pongWithinMs = 10_000
// A message arrives without any event before its end, and the pong after it: 16 MiB at 56 kB/s.
const largeAnswerWithinMs = 5 * 60_000
// A connection that stays open this long resets the backoff; a shorter one may be a server that fails after each upgrade.
const stableAfterMs = 10_000

/** A WebSocket that reconnects with exponential backoff after each interruption, until the server closes it with a code
 * after which clients must not reconnect, or `close()` is called. */
export class ReconnectingSocket {
  readonly #options: ConnectionOptions
  readonly #baseUrl: string
  readonly #protocol: SocketProtocol
  readonly #backoff: ReturnType<typeof createBackoff>
  #socket: SocketLike | undefined
  #isConnected = false
  #state: ConnectionState = { kind: 'connecting' }
  #bearer: string | undefined
  // The token that was last refused (1008). A token function gets one more attempt, if it returns another token.
  #refusal:
    | { readonly bearer: string | undefined; readonly code: number; readonly reason: string }
    | undefined
  #silence: ReturnType<typeof setTimeout> | undefined
  #timers: ReturnType<typeof setTimeout>[] = []

  constructor(options: ConnectionOptions, protocol: SocketProtocol) {
    this.#options = options
    this.#baseUrl = socketUrl(options.baseUrl)
    this.#protocol = protocol
    this.#backoff = createBackoff(options.retry ?? defaultRetry)
    // After the caller's constructor has finished: `protocol` methods may use its fields.
    queueMicrotask(() => void this.#connect())
  }

  get state(): ConnectionState {
    return this.#state
  }

  /** Sends one message; false when the socket is not connected. */
  send(data: string | Uint8Array<ArrayBuffer>): boolean {
    if (!this.#isConnected) return false
    this.#socket?.send(data)
    return true
  }

  /** Closes the socket without reconnecting. */
  close(): void {
    this.#end(1000, 'closed by the client')
  }

  async #connect(): Promise<void> {
    if (this.#state.kind === 'ended') return
    this.#setState({ kind: 'connecting' })
    try {
      const { token } = this.#options
      this.#bearer = typeof token === 'function' ? await token() : token
      if (this.#hasEnded()) return
      if (this.#refusal && this.#refusal.bearer === this.#bearer) {
        this.#end(this.#refusal.code, this.#refusal.reason)
        return
      }
      this.#listen((this.#options.connect ?? connectWebSocket)(this.#url()))
    } catch (error) {
      this.#reconnectLater(error)
    }
  }

  #url(): string {
    const target = this.#protocol.target()
    if (this.#bearer === undefined) return this.#baseUrl + target
    return `${this.#baseUrl}${target}${target.includes('?') ? '&' : '?'}token=${encodeURIComponent(this.#bearer)}`
  }

  #listen(socket: SocketLike): void {
    this.#socket = socket
    socket.binaryType = 'arraybuffer'
    socket.onopen = () => void this.#onOpen(socket)
    socket.onmessage = ({ data }: { data: unknown }) => {
      if (this.#socket !== socket) return
      this.#restartSilenceTimer()
      try {
        this.#protocol.received(data instanceof ArrayBuffer ? new Uint8Array(data) : String(data))
      } catch (error) {
        this.#abandon(error)
      }
    }
    socket.onclose = ({ code, reason }: { code: number; reason: string }) => {
      if (this.#socket === socket) this.#onClose(code, reason)
    }
    // Ignored, as a close event always follows.
    socket.onerror = () => undefined
  }

  async #onOpen(socket: SocketLike): Promise<void> {
    if (this.#socket !== socket) return
    this.#isConnected = true
    this.#after(stableAfterMs, () => {
      this.#backoff.reset()
      this.#refusal = undefined
    })
    this.#restartSilenceTimer()
    try {
      await this.#protocol.opened()
      if (this.#socket === socket) this.#setState({ kind: 'open' })
    } catch (error) {
      // Where the socket has closed meanwhile, its close event reconnects.
      if (this.#socket === socket) this.#abandon(error)
    }
  }

  #onClose(code: number, reason: string): void {
    this.#drop(reason === '' ? `closed with ${code}` : reason)
    const isFirstRefusal = code === socketCloses.unauthenticated.code && this.#refusal === undefined
    if (isFirstRefusal && typeof this.#options.token === 'function') {
      this.#refusal = { bearer: this.#bearer, code, reason }
      this.#reconnectLater(new Error(`${this.#baseUrl} refused the token: ${reason}`))
    } else if (comesBackAfter(code))
      this.#reconnectLater(
        new Error(`the connection to ${this.#baseUrl} failed: ${code} ${reason}`.trimEnd()),
      )
    else this.#end(code, reason)
  }

  #reconnectLater(reason: unknown): void {
    if (this.#hasEnded()) return
    this.#setState({ kind: 'connecting' })
    const delayMs = this.#backoff.next()
    this.#after(delayMs, () => void this.#connect())
    const error = reason instanceof Error ? reason : new Error(String(reason))
    notify(this.#options.onRetry, { error, delayMs })
  }

  #end(code: number, reason: string): void {
    if (this.#hasEnded()) return
    const socket = this.#socket
    this.#drop(reason)
    this.#setState({ kind: 'ended', code, reason })
    socket?.close()
  }

  #drop(reason: string): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer)
    clearTimeout(this.#silence)
    this.#socket = undefined
    if (!this.#isConnected) return
    this.#isConnected = false
    this.#protocol.lost(reason)
  }

  #restartSilenceTimer(): void {
    clearTimeout(this.#silence)
    this.#silence = setTimeout(() => {
      this.#protocol.ping()
      this.#awaitPong()
    }, silenceMs)
  }

  #awaitPong(): void {
    const unsentBytes = () => this.#socket?.bufferedAmount ?? 0
    const before = unsentBytes()
    const withinMs = this.#protocol.awaitsLargeAnswer?.() ? largeAnswerWithinMs : pongWithinMs
    this.#silence = setTimeout(() => {
      // The ping is behind a large message, which the line takes.
      if (unsentBytes() < before) this.#awaitPong()
      else this.#abandon(new Error(`${this.#baseUrl} does not answer`))
    }, withinMs)
  }

  /** Closes the present socket and reconnects, without its close event: that of a dead connection may take minutes. */
  #abandon(error: unknown): void {
    const socket = this.#socket
    this.#drop(String(error))
    socket?.close()
    this.#reconnectLater(error)
  }

  #setState(state: ConnectionState): void {
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

function connectWebSocket(url: string): SocketLike {
  return new WebSocket(url)
}
