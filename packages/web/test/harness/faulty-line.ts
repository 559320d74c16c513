import { once } from 'node:events'
import {
  request as ask,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type ErrorCode, errorStatus } from '@kith/protocol'

/** `held` requests are answered when something else is set. */
export type Fault = 'none' | 'held' | { readonly code: ErrorCode; readonly retryAfterSecs?: number }

/** The proxy of a browser, between it and the servers of a test: what the app asks their API for is held back, or refused as
 * a server refuses it. Signing in, and what changes something, gets through. */
export class FaultyLine implements AsyncDisposable {
  readonly url: string
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #fault: Fault = 'none'
  #isMeant: (path: string) => boolean = () => true
  #held: (() => void)[] = []
  readonly #callers = new Set<Socket>()

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('connection', (socket) => this.#keep(socket))
    server.on('request', (request, response) => this.#answer(request, response))
    server.on('connect', (request, caller) => this.#tunnel(request, caller as Socket))
  }

  static async open(): Promise<FaultyLine> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new FaultyLine(server)
  }

  /** What happens from now on to questions, to those alone whose path is meant; what was held goes on by it. */
  set(fault: Fault, isMeant: (path: string) => boolean = () => true): void {
    this.#fault = fault
    this.#isMeant = isMeant
    for (const goOn of this.#held.splice(0)) goOn()
  }

  /** How many sockets are open. */
  get sockets(): number {
    return this.#callers.size
  }

  /** Says this over all sockets that are open, as if their server did. */
  say(text: string): void {
    const bytes = Buffer.from(text)
    const length = bytes.length < 126 ? [bytes.length] : [126, bytes.length >> 8, bytes.length & 255]
    for (const caller of this.#callers) caller.write(Buffer.concat([Buffer.from([0x81, ...length]), bytes]))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const fault = isQuestion(request, pathname) && this.#isMeant(pathname) ? this.#fault : 'none'
    if (fault === 'none') pass(request, response)
    else if (fault === 'held') this.#held.push(() => this.#answer(request, response))
    else refuse(fault, response)
  }

  /** What the bus speaks over is no question. */
  #tunnel({ url = '' }: IncomingMessage, caller: Socket): void {
    const target = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      caller.write('HTTP/1.1 200 Connection established\r\n\r\n')
    })
    this.#keep(target)
    this.#callers.add(caller)
    caller.on('error', () => target.destroy())
    caller.on('close', () => {
      this.#callers.delete(caller)
      target.destroy()
    })
    target.on('error', () => caller.destroy()).on('close', () => caller.destroy())
    caller.pipe(target).pipe(caller)
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
  }
}

function isQuestion({ method }: IncomingMessage, pathname: string): boolean {
  return method === 'GET' && /^\/api\/(?!auth\/login-token)/.test(pathname)
}

function pass(request: IncomingMessage, response: ServerResponse): void {
  const { port, pathname, search } = new URL(request.url ?? '/')
  const { method, headers } = request
  const onward = ask({ host: '127.0.0.1', port, path: pathname + search, method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  onward.on('error', () => response.destroy())
  response.on('close', () => onward.destroy())
  request.pipe(onward)
}

function refuse({ code, retryAfterSecs }: Exclude<Fault, string>, response: ServerResponse): void {
  const retry = retryAfterSecs === undefined ? {} : { 'retry-after': String(retryAfterSecs) }
  response.writeHead(errorStatus[code], { 'content-type': 'application/json', ...retry })
  const error = { code, message: 'As the test wants it' }
  response.end(JSON.stringify({ error, time: new Date().toISOString(), reqId: 'r1-as-the-test-wants-it' }))
}
