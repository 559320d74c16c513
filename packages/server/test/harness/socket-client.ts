import { once } from 'node:events'
import { type ClientOptions, WebSocket } from 'ws'

interface Closed {
  readonly code: number
  readonly reason: string
}

/** A WebSocket of a test, with everything that it has received. */
export class SocketClient implements AsyncDisposable {
  readonly socket: WebSocket
  readonly received: (string | Buffer)[] = []
  readonly closed: Promise<Closed>
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = []

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('error', () => undefined)
    socket.on('message', (data, isBinary) => {
      this.received.push(isBinary ? (data as Buffer) : String(data))
      for (const { count, resolve } of this.#waiting) if (this.received.length >= count) resolve()
    })
    this.closed = once(socket, 'close').then(([code, reason]) => ({ code, reason: String(reason) }))
  }

  /** Connects to this machine under the name of a host; rejects with the answer's status when there is no upgrade. */
  static async connect(
    port: number,
    host: string,
    path: string,
    options: ClientOptions = {},
  ): Promise<SocketClient> {
    const { headers, ...others } = options
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, {
      perMessageDeflate: false,
      ...others,
      headers: { host: `${host}:${port}`, ...headers },
    })
    const client = new SocketClient(socket)
    const opened = Promise.withResolvers<void>()
    socket.once('open', opened.resolve)
    socket.once('unexpected-response', (request, response) => {
      opened.reject(new UpgradeRefused(response.statusCode ?? 0, response.headers['retry-after']))
      request.destroy()
    })
    socket.once('error', opened.reject)
    await opened.promise
    return client
  }

  send(message: unknown): void {
    this.socket.send(
      typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message),
    )
  }

  /** Resolves when so many messages have come in all. */
  async until(count: number): Promise<void> {
    if (this.received.length >= count) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ count, resolve })
    const gone = this.closed.then(({ code }) => {
      throw new Error(`closed with ${code} after ${this.received.length} of ${count} messages`)
    })
    await Promise.race([promise, gone])
  }

  /** The messages so far, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect to be there
  get json(): any[] {
    return this.received.map((message) => JSON.parse(String(message)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return
    this.socket.terminate()
    await this.closed
  }
}

/** The server answered an upgrade in HTTP. */
export class UpgradeRefused extends Error {
  readonly status: number
  readonly retryAfter: string | undefined

  constructor(status: number, retryAfter: string | undefined) {
    super(`the upgrade was answered ${status}`)
    this.status = status
    this.retryAfter = retryAfter
  }
}
