import { costOf, flowLimits, sizeOf } from '../messages/flow.ts'
import type { AppMessage, HostMessage, SocketKind } from '../messages/messages.ts'

/** What an app asks for when it opens a socket. */
export interface SocketRequest {
  readonly kind: SocketKind
  readonly access: 'read' | 'write' | undefined
  readonly presence: boolean
}

/** Thrown by `socketUrl` where connecting again is of no use: the app is told this close code. */
export class SocketRefused extends Error {
  override readonly name = 'SocketRefused'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export interface RelayOptions {
  readonly socket: number
  readonly request: SocketRequest
  /** The address with its token, which the app does not see. */
  readonly socketUrl: (request: SocketRequest) => Promise<string>
  readonly connect: (url: string) => WebSocket
  readonly post: (message: HostMessage, transfer?: Transferable[]) => void
  readonly closed: (code: number) => void
}

// A WebSocket has no event for it.
const drainCheckMs = 50

/** One WebSocket of the host, relayed to the app. Each direction is bounded: the app by `sent`, the network by `received`. */
export class Relay {
  readonly #options: RelayOptions
  #socket: WebSocket | undefined
  #unsentCost = 0
  #unreceivedCost = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  constructor(options: RelayOptions) {
    this.#options = options
    void this.#open()
  }

  send({ data }: Extract<AppMessage, { type: 'send' }>): void {
    const socket = this.#socket
    if (socket?.readyState !== WebSocket.OPEN) return
    const { kind } = this.#options.request
    const maxBytes = flowLimits.messageBytes[kind]
    if (sizeOf(data) > maxBytes) this.close(1009, 'message too large')
    // The SDK waits for `sent`; what goes on without is bounded here.
    else if (socket.bufferedAmount > 2 * maxBytes) this.close(1013, 'too much at once')
    else {
      socket.send(data)
      this.#unsentCost += costOf(data)
      this.#tellSent()
    }
  }

  received({ cost }: Extract<AppMessage, { type: 'received' }>): void {
    this.#unreceivedCost = Math.max(0, this.#unreceivedCost - cost)
  }

  /** Closes the WebSocket, and tells the app why. */
  close(code: number, reason: string): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#socket?.close()
    this.#options.post({ type: 'closed', socket: this.#options.socket, code, reason: reason.slice(0, 200) })
    this.#options.closed(code)
  }

  async #open(): Promise<void> {
    try {
      const url = await this.#options.socketUrl(this.#options.request)
      if (!this.#isClosed) this.#listen(this.#options.connect(url))
    } catch (error) {
      if (error instanceof SocketRefused) this.close(error.code, error.message)
      // As of a connection that broke, after which clients connect again.
      else this.close(1006, 'the host could not connect')
    }
  }

  #listen(socket: WebSocket): void {
    this.#socket = socket
    socket.binaryType = 'arraybuffer'
    socket.onopen = () => this.#post({ type: 'opened', socket: this.#options.socket })
    socket.onmessage = ({ data }) => this.#onData(data as string | ArrayBuffer)
    socket.onclose = ({ code, reason }) => this.close(code, reason)
  }

  #onData(data: string | ArrayBuffer): void {
    if (this.#isClosed) return
    this.#unreceivedCost += costOf(data)
    if (this.#unreceivedCost > flowLimits.unreceivedCost) {
      this.close(1013, 'the app reads too slowly')
      return
    }
    const transfer = typeof data === 'string' ? [] : [data]
    this.#post({ type: 'data', socket: this.#options.socket, data }, transfer)
  }

  #post(message: HostMessage, transfer?: Transferable[]): void {
    if (!this.#isClosed) this.#options.post(message, transfer)
  }

  #tellSent(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      // One message may be longer than the window: it counts as sent with its last byte.
      const left = Math.min(this.#unsentCost, this.#socket?.bufferedAmount ?? 0)
      const cost = this.#unsentCost - left
      this.#unsentCost = left
      if (cost > 0) this.#post({ type: 'sent', socket: this.#options.socket, cost })
      if (left > 0) this.#tellSent()
    }, drainCheckMs)
  }
}
