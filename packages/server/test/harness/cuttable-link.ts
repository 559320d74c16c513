import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** `open` passes everything on, `refused` nothing, and `unanswered` requests without their answers. */
export type LinkState = 'open' | 'refused' | 'unanswered'

/** The way to a server that a test may cut: a port of its own, which outlives the server. Behind it a server may come back under
 * the same address. */
export class CuttableLink implements AsyncDisposable {
  readonly port: number
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #pairs = new Map<Socket, Socket>()
  readonly #stranded = new Set<Socket>()
  #target: number | string | undefined
  #state: LinkState = 'open'

  private constructor(server: Server) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    server.on('connection', (socket) => this.#accept(socket))
  }

  static async open(): Promise<CuttableLink> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new CuttableLink(server)
  }

  /** Sets where connections are passed on to: a port of this machine or the path of a Unix socket. With undefined they are
   * closed at once. */
  leadTo(target: number | string | undefined): void {
    this.#target = target
  }

  /** What is under way breaks off. */
  set(state: LinkState): void {
    if (state === this.#state) return
    this.#state = state
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Breaks what is under way for the callers alone: the server notices with `endStranded`. */
  strand(): void {
    for (const [caller, server] of this.#pairs) {
      this.#stranded.add(server)
      caller.destroy()
    }
  }

  endStranded(): void {
    for (const server of this.#stranded) server.destroy()
    this.#stranded.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #accept(caller: Socket): void {
    this.#keep(caller)
    if (this.#state === 'refused' || this.#target === undefined) {
      caller.destroy()
      return
    }
    const server =
      typeof this.#target === 'string' ? connect(this.#target) : connect(this.#target, '127.0.0.1')
    this.#keep(server)
    this.#pairs.set(caller, server)
    const endServer = () => this.#stranded.has(server) || server.destroy()
    for (const event of ['error', 'close']) {
      caller.on(event, endServer)
      server.on(event, () => caller.destroy())
    }
    caller.on('close', () => this.#pairs.delete(caller))
    // A pipe would end the server's side.
    caller.on('data', (chunk) => server.write(chunk))
    if (this.#state === 'open') server.pipe(caller)
    else server.once('data', () => caller.destroy())
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
  }
}
