import { type BusAck, type BusCommand, type BusCommandData, type BusEvent, busSocket } from '@kith/protocol'
import { ConnectionLost } from '../realtime/connection-lost.ts'
import { notify } from '../realtime/notify.ts'
import {
  type ConnectionOptions,
  type ConnectionState,
  ReconnectingSocket,
  type SocketProtocol,
} from '../realtime/reconnecting-socket.ts'
import { EventOrder } from './event-order.ts'

export interface BusOptions extends ConnectionOptions {
  /** `Bus.since` of an earlier run: the events after it are replayed first. */
  readonly since?: number
  readonly onEvent: (event: BusEvent) => void
  /** Events were missed which the server no longer keeps: the application should reload its data. */
  readonly onGap?: () => void
  readonly onState?: (state: ConnectionState) => void
}

export interface Bus {
  readonly state: ConnectionState
  /** The `seq` of the last event received: the option `since` of a later run. Undefined before the first connection. */
  readonly since: number | undefined
  /** Sends a command and resolves with its answer. Rejects with `ConnectionLost` when there is no connection, or it closes before the
   * answer comes. */
  ask<Command extends BusCommand>(cmd: Command, data: BusCommandData<Command>): Promise<BusAck['data']>
  /** Tells the server whether the user is active (see `presence` in the protocol); repeated after each reconnection. */
  setPresence(state: 'active' | 'idle'): void
  /** Ends a delay before the next attempt to connect. Where there is a connection, asks the server whether it still is one. */
  reconnect(): void
  /** Closes the connection without reconnecting. */
  close(): void
}

// The answer to the replay that `?since=` starts has no `id`. Commands use the ids '1', '2', …
const replayId = ''

/** Connects to the event bus of a tenant. Reconnects after each interruption, and receives the events missed meanwhile. */
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
  // Commands without an answer yet, by id. Bound: the calls of `ask` during one connection.
  readonly #asked = new Map<string, Asked>()
  #hasBeenOpen = false
  #isReplayed = false
  #presence: 'active' | 'idle' = 'active'
  #lastId = 0

  constructor(options: BusOptions) {
    this.#options = options
    this.#order = new EventOrder(options.since, (event) => notify(options.onEvent, event))
    this.#socket = new ReconnectingSocket(options, this)
  }

  get state(): ConnectionState {
    return this.#socket.state
  }

  get since(): number | undefined {
    return this.#order.since
  }

  async ask<Command extends BusCommand>(
    cmd: Command,
    data: BusCommandData<Command>,
  ): Promise<BusAck['data']> {
    this.#lastId += 1
    const id = String(this.#lastId)
    if (!this.#socket.send(JSON.stringify({ id, cmd, data })))
      throw new ConnectionLost('the bus is not connected')
    return await this.#answerTo(id)
  }

  setPresence(state: 'active' | 'idle'): void {
    this.#presence = state
    this.ask('presence', { state }).catch(() => undefined)
  }

  reconnect(): void {
    this.#socket.reconnect()
  }

  close(): void {
    this.#socket.close()
  }

  target(): string {
    const { since } = this
    this.#isReplayed = since !== undefined
    return since === undefined ? busSocket.path : `${busSocket.path}?since=${since}`
  }

  /** Waits for the end of the replay, if the URL had `since`, or else subscribes. */
  async opened(): Promise<void> {
    const isBack = this.#hasBeenOpen
    this.#hasBeenOpen = true
    if (this.#presence === 'idle') this.setPresence('idle')
    const isReplayed = this.#isReplayed
    const { code } = await (isReplayed ? this.#answerTo(replayId) : this.ask('subscribe', {}))
    // A reconnection without `since` cannot ask for the missed events: it counts as a gap.
    if (code === 'gap' || (!isReplayed && isBack)) notify(this.#options.onGap)
  }

  received(text: string | Uint8Array): void {
    const message = JSON.parse(String(text)) as BusAck | BusEvent
    if (message.cmd !== 'ack') {
      this.#order.take(message)
      return
    }
    const { seq } = message.data
    // Synchronously: the next event may arrive in the same turn of the event loop.
    if (seq !== undefined) this.#order.continueFrom(seq)
    const id = message.id === undefined ? replayId : String(message.id)
    this.#asked.get(id)?.resolve(message.data)
    this.#asked.delete(id)
  }

  lost(error: ConnectionLost): void {
    const asked = [...this.#asked.values()]
    this.#asked.clear()
    for (const { reject } of asked) reject(error)
  }

  ping(): void {
    this.ask('ping', {}).catch(() => undefined)
  }

  stateChanged(state: ConnectionState): void {
    notify(this.#options.onState, state)
  }

  #answerTo(id: string): Promise<BusAck['data']> {
    return new Promise((resolve, reject) => this.#asked.set(id, { resolve, reject }))
  }
}
