import {
  type BusAck,
  type BusCommand,
  type BusCommandData,
  type BusEvent,
  busSocket,
  comesBackAfter,
} from '@kith/protocol'
import { type Backoff, createBackoff } from './backoff.ts'
import { EventOrder } from './event-order.ts'

/** The parts of a WebSocket that are used: the platform's is one. */
export interface SocketLike {
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
  send(text: string): void
  close(): void
}

export interface BusOptions {
  /** Where the tenant lives, for instance `https://alice.example.com`. */
  readonly baseUrl: string
  /** The bearer, or what gives the present one: it is asked for each connection. */
  readonly token: string | (() => string | Promise<string>)
  /** The number of the last event that was seen, by a former run. */
  readonly since?: number
  readonly onEvent: (event: BusEvent) => void
  /** Events were missed and are no longer kept: the application should load its data again. */
  readonly onGap?: () => void
  readonly onState?: (state: BusState) => void
  /** Instead of the platform’s. */
  readonly connect?: (url: string) => SocketLike
  /** The wait before the first attempt to reconnect, and the longest one. */
  readonly retry?: { readonly firstMs: number; readonly longestMs: number }
}

/** `ended`: it does not reconnect; `code` says why (see `socketCloses` of the protocol). */
export type BusState =
  | { readonly kind: 'connecting' | 'open' }
  | { readonly kind: 'ended'; readonly code: number; readonly reason: string }

export interface Bus {
  /** The number of the last event that was seen: for `since` of a later run. */
  readonly since: number | undefined
  /** Sends a command; rejects when the connection is not open, or ends before the answer. */
  ask<Command extends BusCommand>(cmd: Command, data: BusCommandData<Command>): Promise<BusAck['data']>
  /** Whether the user looks at the application; sent again after each reconnection. */
  setPresence(state: 'active' | 'idle'): void
  /** Closes the connection without reconnecting. */
  close(): void
}

// Those of commands are numbers from 1.
const replayId = ''
const defaultRetry = { firstMs: 500, longestMs: 30_000 }
// A connection that broke without a word is noticed by this.
const pingEveryMs = 30_000
const pongWithinMs = 10_000
// Shorter ones are no sign that the server is well again.
const steadyAfterMs = 10_000

/** Receives the events of a tenant; reconnects after each interruption and fetches the events missed meanwhile. */
export function connectBus(options: BusOptions): Bus {
  return new LiveBus(options)
}

interface Asked {
  readonly resolve: (data: BusAck['data']) => void
  readonly reject: (error: Error) => void
}

class LiveBus implements Bus {
  readonly #options: BusOptions
  readonly #order: EventOrder
  readonly #backoff: Backoff
  // Bound: what the caller asks while a connection is open.
  readonly #asked = new Map<string, Asked>()
  #socket: SocketLike | undefined
  #isOpen = false
  #hasBeenOpen = false
  #isEnded = false
  #presence: 'active' | 'idle' = 'active'
  #lastId = 0
  #timers: ReturnType<typeof setTimeout>[] = []

  constructor(options: BusOptions) {
    this.#options = options
    this.#order = new EventOrder(options.since, options.onEvent)
    this.#backoff = createBackoff(options.retry ?? defaultRetry)
    void this.#connect()
  }

  get since(): number | undefined {
    return this.#order.since
  }

  ask<Command extends BusCommand>(cmd: Command, data: BusCommandData<Command>): Promise<BusAck['data']> {
    const socket = this.#socket
    if (!socket || !this.#isOpen) return Promise.reject(new Error('the bus is not connected'))
    this.#lastId += 1
    const id = String(this.#lastId)
    const answer = this.#answerTo(id)
    socket.send(JSON.stringify({ id, cmd, data }))
    return answer
  }

  setPresence(state: 'active' | 'idle'): void {
    this.#presence = state
    this.ask('presence', { state }).catch(() => undefined)
  }

  close(): void {
    this.#end(1000, 'closed by the client')
    this.#socket?.close()
  }

  #answerTo(id: string): Promise<BusAck['data']> {
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject })
    })
  }

  async #connect(): Promise<void> {
    this.#options.onState?.({ kind: 'connecting' })
    const { token, baseUrl } = this.#options
    try {
      const bearer = typeof token === 'function' ? await token() : token
      if (this.#isEnded) return
      const { since } = this
      const query = new URLSearchParams({
        token: bearer,
        ...(since === undefined ? {} : { since: `${since}` }),
      })
      const url = `${baseUrl.replace(/^http/, 'ws').replace(/\/+$/, '')}${busSocket.path}?${query}`
      this.#listen((this.#options.connect ?? connectPlatform)(url), since !== undefined)
    } catch {
      this.#comeBack()
    }
  }

  #listen(socket: SocketLike, isReplayed: boolean): void {
    this.#socket = socket
    socket.onopen = () => void this.#onOpen(isReplayed)
    socket.onmessage = ({ data }: { data: unknown }) => this.#onMessage(String(data))
    socket.onclose = ({ code, reason }: { code: number; reason: string }) => this.#onClose(code, reason)
    // A close event follows.
    socket.onerror = () => undefined
  }

  /** With `since` in its URL a connection begins with a replay, whose answer has no id. */
  async #onOpen(isReplayed: boolean): Promise<void> {
    this.#isOpen = true
    const isBack = this.#hasBeenOpen
    this.#hasBeenOpen = true
    this.#after(steadyAfterMs, () => this.#backoff.reset())
    this.#ping()
    if (this.#presence === 'idle') this.setPresence('idle')
    try {
      const { code } = await (isReplayed ? this.#answerTo(replayId) : this.ask('subscribe', {}))
      // Without any number the client could not say what it missed.
      if (code === 'gap' || (!isReplayed && isBack)) this.#options.onGap?.()
      this.#options.onState?.({ kind: 'open' })
    } catch {
      // It has closed meanwhile, and reconnects.
    }
  }

  #onMessage(text: string): void {
    const message = JSON.parse(text) as BusAck | BusEvent
    if (message.cmd !== 'ack') {
      this.#order.take(message)
      return
    }
    const { seq } = message.data
    // At once: the next event may be here already.
    if (seq !== undefined) this.#order.continueFrom(seq)
    const id = message.id === undefined ? replayId : String(message.id)
    this.#asked.get(id)?.resolve(message.data)
    this.#asked.delete(id)
  }

  #onClose(code: number, reason: string): void {
    this.#isOpen = false
    this.#socket = undefined
    for (const timer of this.#timers.splice(0)) clearTimeout(timer)
    for (const { reject } of this.#asked.values()) reject(new Error(`the bus was closed: ${code} ${reason}`))
    this.#asked.clear()
    if (this.#isEnded) return
    if (comesBackAfter(code)) this.#comeBack()
    else this.#end(code, reason)
  }

  #comeBack(): void {
    if (!this.#isEnded) this.#after(this.#backoff.next(), () => void this.#connect())
  }

  #end(code: number, reason: string): void {
    if (this.#isEnded) return
    this.#isEnded = true
    for (const timer of this.#timers.splice(0)) clearTimeout(timer)
    this.#options.onState?.({ kind: 'ended', code, reason })
  }

  /** Browsers do not show pings, so the client asks itself. */
  #ping(): void {
    this.#after(pingEveryMs, () => {
      const socket = this.#socket
      const lost = setTimeout(() => this.#lose(socket), pongWithinMs)
      this.ask('ping', {}).then(
        () => {
          clearTimeout(lost)
          this.#ping()
        },
        () => clearTimeout(lost),
      )
    })
  }

  /** The close event may take minutes, so it is not waited for. */
  #lose(socket: SocketLike | undefined): void {
    if (!socket || socket !== this.#socket) return
    socket.onclose = null
    socket.onmessage = null
    socket.close()
    this.#onClose(1006, 'no answer')
  }

  #after(ms: number, act: () => void): void {
    this.#timers.push(setTimeout(act, ms))
  }
}

function connectPlatform(url: string): SocketLike {
  return new WebSocket(url)
}
