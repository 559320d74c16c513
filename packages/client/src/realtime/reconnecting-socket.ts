import { comesBackAfter, socketCloses } from '@kith/protocol'
import { createBackoff } from './backoff.ts'
import { assertConnection, socketUrl } from './base-url.ts'
import { ConnectionLost, endOf } from './connection-lost.ts'
import { notify, warn } from './notify.ts'

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
  /** Called before each delay, with the reason: the error of the token function, or why the connection failed. When absent, the first
   * is written to the console. */
  readonly onRetry?: (retry: { readonly error: Error; readonly delayMs: number }) => void
}

/** With the callback for states, of which each kind of connection has its own. */
type SocketOptions = ConnectionOptions & { readonly onState?: unknown }

/** How far connecting is. */
export interface Attempt {
  /** The attempt that runs, or comes next: 1 for the first, and for the first after 10 s of connection. */
  readonly attempt: number
  /** When the next attempt begins, in Unix ms; absent while one runs. */
  readonly nextAttemptAt?: number
  /** Why the last attempt failed, or the connection was lost; absent before the first. */
  readonly lastError?: Error
}

/** `connecting` also while it waits to reconnect. `ended` is final: `code` is a WebSocket close code (`socketCloses` in
 * `@kith/protocol`; 1000 after `close()`). */
export type ConnectionState =
  | ({ readonly kind: 'connecting' } & Attempt)
  | { readonly kind: 'open' }
  | { readonly kind: 'ended'; readonly code: number; readonly reason: string }

/** The message protocol that runs over a `ReconnectingSocket`: methods called on its events. */
export interface SocketProtocol {
  /** Path and query of the URL for the next attempt to connect. */
  target(): string
  /** The WebSocket has opened. The state becomes `open` when this resolves. */
  opened(): void | Promise<void>
  /** A message arrived: text, or bytes of a binary frame. Throws when it is none of the protocol. */
  received(data: string | Uint8Array<ArrayBuffer>): void
  /** The WebSocket has closed: pending requests get no answer. The state of the socket is the new one already. */
  lost(error: ConnectionLost): void
  /** Sends a message that the server answers. Called after a period without messages, to detect a dead connection. */
  ping(): void
  /** Whether an answer is pending that may take minutes on a slow line. */
  awaitsLargeAnswer?(): boolean
  stateChanged(state: ConnectionState): void
}

const defaultRetry = { firstMs: 500, longestMs: 30_000 }
// An attempt on a line that swallows everything would last for minutes.
const connectWithinMs = 20_000
// Detects connections that broke without a close event. Browsers do not expose the server's ping frames, so the client
// sends a request of its own after this time without a message.
const silenceMs = 30_000
const pongWithinMs = 10_000
// A message arrives without any event before its end, and the pong after it: 16 MiB at 56 kB/s.
const largeAnswerWithinMs = 5 * 60_000
// A connection that stays open this long resets the backoff; a shorter one may be a server that fails after each upgrade.
const stableAfterMs = 10_000

/** The events of a browser that has a network again. Node has none. */
const network = globalThis as Partial<Pick<EventTarget, 'addEventListener' | 'removeEventListener'>>

/** A WebSocket that reconnects with exponential backoff after each interruption, until the server closes it with a code
 * after which clients must not reconnect, or `close()` is called. */
export class ReconnectingSocket {
  readonly #options: SocketOptions
  readonly #baseUrl: string
  readonly #protocol: SocketProtocol
  readonly #backoff: ReturnType<typeof createBackoff>
  readonly #onOnline = () => this.reconnect()
  #socket: SocketLike | undefined
  #isConnected = false
  #state: ConnectionState = { kind: 'connecting', attempt: 1 }
  #attempt = 0
  #lastError: Error | undefined
  #hasLogged = false
  #bearer: string | undefined
  // The token that was last refused (1008). A token function gets one more attempt, if it returns another token.
  #refusal:
    | { readonly bearer: string | undefined; readonly code: number; readonly reason: string }
    | undefined
  #silence: ReturnType<typeof setTimeout> | undefined
  #awaitsPong = false
  // One after the other: the end of an attempt, the time after which a connection is stable, the delay before the next attempt.
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: SocketOptions, protocol: SocketProtocol) {
    assertConnection(options)
    this.#options = options
    this.#baseUrl = socketUrl(options.baseUrl)
    this.#protocol = protocol
    this.#backoff = createBackoff(options.retry ?? defaultRetry)
    network.addEventListener?.('online', this.#onOnline)
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

  /** Ends a delay before the next attempt. Where there is a connection, asks the server whether it still is one. */
  reconnect(): void {
    if (this.#isConnected) this.#checkLine()
    if (this.#state.kind !== 'connecting' || this.#state.nextAttemptAt === undefined) return
    this.#backoff.reset()
    // By a timer: an application may call this whenever an attempt has failed.
    this.#after(0, () => void this.#connect())
  }

  /** Closes the socket without reconnecting. */
  close(): void {
    this.#end(1000, 'closed by the client')
  }

  async #connect(): Promise<void> {
    if (this.#hasEnded()) return
    clearTimeout(this.#timer)
    this.#attempt += 1
    this.#state = { kind: 'connecting', attempt: this.#attempt, ...this.#reason() }
    this.#protocol.stateChanged(this.#state)
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
      this.#retryLater(error)
    }
  }

  #url(): string {
    const target = this.#protocol.target()
    if (this.#bearer === undefined) return this.#baseUrl + target
    return `${this.#baseUrl}${target}${target.includes('?') ? '&' : '?'}token=${encodeURIComponent(this.#bearer)}`
  }

  #path(): string {
    return this.#protocol.target().replace(/\?.*/, '')
  }

  #listen(socket: SocketLike): void {
    this.#socket = socket
    this.#after(connectWithinMs, () => this.#retryLater(this.#doesNotAnswer()))
    socket.binaryType = 'arraybuffer'
    socket.onopen = () => void this.#onOpen(socket)
    socket.onmessage = ({ data }: { data: unknown }) => {
      if (this.#socket !== socket) return
      this.#restartSilenceTimer()
      try {
        this.#protocol.received(data instanceof ArrayBuffer ? new Uint8Array(data) : String(data))
      } catch (error) {
        this.#retryLater(error)
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
      this.#attempt = 0
      this.#backoff.reset()
      this.#refusal = undefined
    })
    this.#restartSilenceTimer()
    try {
      await this.#protocol.opened()
      if (this.#socket !== socket) return
      this.#state = { kind: 'open' }
      this.#protocol.stateChanged(this.#state)
    } catch (error) {
      // Where the socket has closed meanwhile, its close event reconnects.
      if (this.#socket === socket) this.#retryLater(error)
    }
  }

  #onClose(code: number, reason: string): void {
    const isFirstRefusal = code === socketCloses.unauthenticated.code && this.#refusal === undefined
    if (isFirstRefusal && typeof this.#options.token === 'function') {
      this.#refusal = { bearer: this.#bearer, code, reason }
      this.#retryLater(new Error(`${this.#baseUrl} refused the token: ${reason}`))
    } else if (comesBackAfter(code))
      this.#retryLater(new Error(`the connection to ${this.#baseUrl} failed: ${code} ${reason}`.trimEnd()))
    else this.#end(code, reason)
  }

  /** Gives up the present attempt or connection for another one after a delay. */
  #retryLater(reason: unknown): void {
    if (this.#hasEnded()) return
    const error = reason instanceof Error ? reason : new Error(String(reason))
    const delayMs = this.#backoff.next()
    this.#lastError = error
    const state: ConnectionState = {
      kind: 'connecting',
      attempt: this.#attempt + 1,
      nextAttemptAt: Math.ceil(Date.now() + delayMs),
      lastError: error,
    }
    this.#leave(state, new ConnectionLost(`the connection broke: ${error.message}`, { cause: error }))
    // An application that was told may have closed, or asked for the next attempt at once.
    if (this.#state !== state) return
    this.#after(delayMs, () => void this.#connect())
    this.#protocol.stateChanged(state)
    this.#report(error, delayMs)
  }

  #end(code: number, reason: string): void {
    if (this.#hasEnded()) return
    network.removeEventListener?.('online', this.#onOnline)
    const state: ConnectionState = { kind: 'ended', code, reason }
    this.#leave(state, endOf(state))
    this.#protocol.stateChanged(state)
    if (code !== 1000 && !this.#options.onState)
      warn(`The connection to ${this.#baseUrl}${this.#path()} has ended: ${code} ${reason}`.trimEnd())
  }

  /** Takes on a state without a connection. Before anything else: what fails by it is asked again at the next connection alone. */
  #leave(state: ConnectionState, lost: ConnectionLost): void {
    this.#state = state
    clearTimeout(this.#timer)
    clearTimeout(this.#silence)
    const socket = this.#socket
    this.#socket = undefined
    if (this.#isConnected) {
      this.#isConnected = false
      this.#protocol.lost(lost)
    }
    // The close event of a dead connection may take minutes: it is not waited for.
    socket?.close()
  }

  #restartSilenceTimer(): void {
    this.#awaitsPong = false
    clearTimeout(this.#silence)
    this.#silence = setTimeout(() => this.#checkLine(), silenceMs)
  }

  #checkLine(): void {
    if (this.#awaitsPong) return
    this.#awaitsPong = true
    clearTimeout(this.#silence)
    this.#protocol.ping()
    this.#awaitPong()
  }

  #awaitPong(): void {
    const unsentBytes = () => this.#socket?.bufferedAmount ?? 0
    const before = unsentBytes()
    const withinMs = this.#protocol.awaitsLargeAnswer?.() ? largeAnswerWithinMs : pongWithinMs
    this.#silence = setTimeout(() => {
      // The ping is behind a large message, which the line takes.
      if (unsentBytes() < before) this.#awaitPong()
      else this.#retryLater(this.#doesNotAnswer())
    }, withinMs)
  }

  #doesNotAnswer(): Error {
    return new Error(`${this.#baseUrl} does not answer`)
  }

  #report(error: Error, delayMs: number): void {
    if (this.#options.onRetry) notify(this.#options.onRetry, { error, delayMs })
    else if (!this.#hasLogged) warn(`${error.message}. Further attempts are made until close().`)
    this.#hasLogged = true
  }

  #reason(): { readonly lastError?: Error } {
    return this.#lastError === undefined ? {} : { lastError: this.#lastError }
  }

  #hasEnded(): boolean {
    return this.#state.kind === 'ended'
  }

  #after(ms: number, act: () => void): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(act, ms)
  }
}

function connectWebSocket(url: string): SocketLike {
  return new WebSocket(url)
}
