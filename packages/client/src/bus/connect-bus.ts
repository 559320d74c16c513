import { type BusAck, type BusCommand, type BusCommandData, type BusEvent, busSocket } from '@kith/protocol'
import {
  type ConnectionOptions,
  type ConnectionState,
  ReconnectingSocket,
  type SocketProtocol,
} from '../realtime/reconnecting-socket.ts'
import { EventOrder } from './event-order.ts'

export interface BusOptions extends ConnectionOptions {
  /** The number of the last event that was seen, by a former run. */
  readonly since?: number
  readonly onEvent: (event: BusEvent) => void
  /** Events were missed and are no longer kept: the application should load its data again. */
  readonly onGap?: () => void
  readonly onState?: (state: ConnectionState) => void
}

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

/** Receives the events of a tenant; reconnects after each interruption and fetches the events missed meanwhile. */
export function connectBus(options: BusOptions): Bus {
  return new LiveBus(options)
}

interface Asked {
  readonly resolve: (data: BusAck['data']) => void
  readonly reject: (error: Error) => void
}

class LiveBus implements Bus, SocketProtocol {
  readonly #options: BusOptions
  readonly #order: EventOrder
  readonly #socket: ReconnectingSocket
  // Bound: what the caller asks while a connection is open.
  readonly #asked = new Map<string, Asked>()
  #hasBeenOpen = false
  #isReplayed = false
  #presence: 'active' | 'idle' = 'active'
  #lastId = 0

  constructor(options: BusOptions) {
    this.#options = options
    this.#order = new EventOrder(options.since, options.onEvent)
    this.#socket = new ReconnectingSocket(options, this)
  }

  get since(): number | undefined {
    return this.#order.since
  }

  ask<Command extends BusCommand>(cmd: Command, data: BusCommandData<Command>): Promise<BusAck['data']> {
    this.#lastId += 1
    const id = String(this.#lastId)
    if (!this.#socket.send(JSON.stringify({ id, cmd, data })))
      return Promise.reject(new Error('the bus is not connected'))
    return this.#answerTo(id)
  }

  setPresence(state: 'active' | 'idle'): void {
    this.#presence = state
    this.ask('presence', { state }).catch(() => undefined)
  }

  close(): void {
    this.#socket.close()
  }

  target(): string {
    const { since } = this
    this.#isReplayed = since !== undefined
    return since === undefined ? busSocket.path : `${busSocket.path}?since=${since}`
  }

  /** With `since` in its URL a connection begins with a replay, whose answer has no id. */
  async opened(): Promise<void> {
    const isBack = this.#hasBeenOpen
    this.#hasBeenOpen = true
    if (this.#presence === 'idle') this.setPresence('idle')
    const isReplayed = this.#isReplayed
    const { code } = await (isReplayed ? this.#answerTo(replayId) : this.ask('subscribe', {}))
    // Without any number the client could not say what it missed.
    if (code === 'gap' || (!isReplayed && isBack)) this.#options.onGap?.()
  }

  received(text: string | Uint8Array): void {
    const message = JSON.parse(String(text)) as BusAck | BusEvent
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

  lost(reason: string): void {
    for (const { reject } of this.#asked.values()) reject(new Error(`the bus was closed: ${reason}`))
    this.#asked.clear()
  }

  ping(): void {
    this.ask('ping', {}).catch(() => undefined)
  }

  stateChanged(state: ConnectionState): void {
    this.#options.onState?.(state)
  }

  #answerTo(id: string): Promise<BusAck['data']> {
    return new Promise((resolve, reject) => this.#asked.set(id, { resolve, reject }))
  }
}
