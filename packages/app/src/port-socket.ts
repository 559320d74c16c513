import type { SocketLike } from '@kith/client/rtdb'
import { costOf, flowLimits } from './messages/flow.ts'
import type { AppMessage, HostMessage, SocketKind } from './messages/messages.ts'

type Data = string | Uint8Array<ArrayBuffer>
type OpenMessage = Extract<AppMessage, { type: 'open' }>
type SocketMessage = Extract<HostMessage, { socket: number }>

/** The WebSockets of an app, which the host opens and relays over the port. */
export class PortSockets {
  readonly #post: (message: AppMessage) => void
  // Bound: the clients open one at a time, and the host refuses more than a few.
  readonly #open = new Map<number, PortSocket>()
  #last = 0

  constructor(post: (message: AppMessage) => void) {
    this.#post = post
  }

  /** Opens the socket that a client of `@kith/client` has made a URL for. */
  connect(kind: SocketKind, url: string): SocketLike {
    const query = new URL(url).searchParams
    const access = query.get('access') as OpenMessage['access'] | null
    this.#last += 1
    const socket = this.#last
    const made = new PortSocket(socket, {
      post: this.#post,
      closed: () => this.#open.delete(socket),
    })
    this.#open.set(socket, made)
    this.#post({
      type: 'open',
      socket,
      kind,
      access: access ?? undefined,
      presence: query.get('presence') === '1',
    })
    return made
  }

  /** A message of the host. One for a socket that has closed is dropped. */
  take(message: SocketMessage): void {
    this.#open.get(message.socket)?.take(message)
  }
}

interface PortSocketEvents {
  readonly post: (message: AppMessage) => void
  readonly closed: () => void
}

// One message of the host for each that the network brings would be a flood of its own.
const receivedMs = 100

class PortSocket implements SocketLike {
  binaryType = 'arraybuffer'
  onopen: SocketLike['onopen'] = null
  onmessage: SocketLike['onmessage'] = null
  onclose: SocketLike['onclose'] = null
  onerror: SocketLike['onerror'] = null
  readonly #socket: number
  readonly #events: PortSocketEvents
  // What the host has no room for yet. Bound: as of a WebSocket, what the client sends.
  readonly #waiting: Data[] = []
  #waitingCost = 0
  #inFlightCost = 0
  #receivedCost = 0
  #receivedTimer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  constructor(socket: number, events: PortSocketEvents) {
    this.#socket = socket
    this.#events = events
  }

  get bufferedAmount(): number {
    return this.#waitingCost + this.#inFlightCost
  }

  send(data: Data): void {
    if (this.#isClosed) return
    this.#waiting.push(data)
    this.#waitingCost += costOf(data)
    this.#flush()
  }

  close(): void {
    if (this.#isClosed) return
    this.#events.post({ type: 'close', socket: this.#socket })
    // The handshake of a closing WebSocket takes its time as well: the event does not come during the call.
    queueMicrotask(() => this.#onClosed(1000, 'closed by the client'))
  }

  take(message: SocketMessage): void {
    switch (message.type) {
      case 'opened':
        this.onopen?.({} as never)
        break
      case 'data':
        this.#onData(message.data)
        break
      case 'sent':
        this.#inFlightCost = Math.max(0, this.#inFlightCost - message.cost)
        this.#flush()
        break
      case 'closed':
        this.#onClosed(message.code, message.reason)
        break
    }
  }

  #onData(data: string | ArrayBuffer): void {
    this.onmessage?.({ data } as never)
    this.#receivedCost += costOf(data)
    this.#receivedTimer ??= setTimeout(() => this.#tellReceived(), receivedMs)
  }

  #tellReceived(): void {
    this.#receivedTimer = undefined
    if (!this.#isClosed)
      this.#events.post({ type: 'received', socket: this.#socket, cost: this.#receivedCost })
    this.#receivedCost = 0
  }

  #flush(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const cost = costOf(next)
      if (this.#inFlightCost > 0 && this.#inFlightCost + cost > flowLimits.windowCost) return
      this.#waiting.shift()
      this.#waitingCost -= cost
      this.#inFlightCost += cost
      this.#events.post({ type: 'send', socket: this.#socket, data: asMessage(next) })
    }
  }

  #onClosed(code: number, reason: string): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#waiting.length = 0
    clearTimeout(this.#receivedTimer)
    this.#events.closed()
    this.onclose?.({ code, reason } as never)
  }
}

/** The bytes of a view are a part of its buffer, and the port copies the whole buffer. */
function asMessage(data: Data): string | ArrayBuffer {
  return typeof data === 'string' ? data : data.slice().buffer
}
