import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ProxiedUpgrade } from '#infra/http/index.ts'
import { type Backend, backendPath, placeOf } from './backend.ts'
import { lookupBackend } from './backend-lookup.ts'
import { cutOff } from './cut-off.ts'
import { isPlainlyFramed, requestHeaders, responseHeaders } from './passed-headers.ts'
import type { Refusal } from './refusal.ts'
import { type SilenceWatch, Watched } from './silence-watch.ts'

interface Tunnelling {
  readonly backend: Backend
  readonly via: string
  readonly watch: SilenceWatch
  onFault(status: Refusal, error: Error): void
  onEnd(): void
}

// WebSocket clients ping every minute or two.
const idleMs = 10 * 60_000
// For a slow backend to take the last bytes of the visitor.
const flushMs = 10_000
const maxHeaderBytes = 32 * 1024

/** Passes an upgrade on. After the backend's 101 the two connections are joined. */
export function forwardUpgrade(visit: ProxiedUpgrade, tunnelling: Tunnelling): { end(): void } {
  const tunnel = new Tunnel(visit, tunnelling)
  return { end: () => tunnel.end() }
}

class Tunnel extends Watched {
  limitMs: number
  readonly #visit: ProxiedUpgrade
  readonly #tunnelling: Tunnelling
  readonly #asking: ClientRequest
  #joined: Socket | undefined
  #hasAnswered = false
  #isOver = false

  constructor(visit: ProxiedUpgrade, tunnelling: Tunnelling) {
    super()
    const { backend, watch } = tunnelling
    this.#visit = visit
    this.#tunnelling = tunnelling
    this.limitMs = Math.max(backend.connectTimeoutMs, backend.readTimeoutMs)
    this.#asking = this.#ask()
    const client = visit.connection as Socket
    client.setTimeout(0)
    client.on('error', () => undefined)
    client.once('close', () => this.#finish())
    watch.start(this)
  }

  countBytes(): number {
    const client = this.#visit.connection as Socket
    return this.#hasAnswered ? client.bytesRead + client.bytesWritten : 0
  }

  onSilence(): void {
    if (this.#hasAnswered) this.end()
    else this.#fail(504, new Error('nothing moved for too long'))
  }

  /** Cuts both connections off. */
  end(): void {
    this.#joined?.destroy()
    this.#finish()
    this.#visit.connection.destroy()
  }

  #ask(): ClientRequest {
    const { request, peer } = this.#visit
    const { backend, via } = this.#tunnelling
    const place = placeOf(backend)
    const headers = requestHeaders(request, { peer, via, backend })
    const options = {
      ...place,
      path: backendPath(request.url ?? '/', backend),
      headers: [...headers, 'Connection', 'Upgrade', 'Upgrade', 'websocket'],
      agent: false,
      setHost: false,
      maxHeaderSize: maxHeaderBytes,
      lookup: lookupBackend,
      ...(isIP(place.host) === 0 ? { servername: place.host } : {}),
    } as const
    const ask = backend.origin.startsWith('https:') ? httpsRequest : httpRequest
    return ask(options)
      .on('upgrade', (answer, backendSocket, head) => this.#join(answer, backendSocket, head))
      .on('response', (answer) => this.#passRefusal(answer))
      .on('error', (error) => this.#fail(502, error))
      .end()
  }

  #join(answer: IncomingMessage, backendSocket: Duplex, head: Buffer): void {
    const { connection, head: early } = this.#visit
    if (this.#isOver || answer.headers.upgrade?.toLowerCase() !== 'websocket') {
      backendSocket.destroy()
      this.#fail(502, new Error('the backend speaks another protocol'))
      return
    }
    this.#joined = backendSocket as Socket
    this.#hasAnswered = true
    this.limitMs = idleMs
    this.#tunnelling.watch.start(this)
    const client = connection as Socket
    backendSocket.on('error', () => cutOff(client))
    // What is on its way is still delivered.
    backendSocket.once('close', () => client.destroySoon())
    connection.write(headOf(answer, this.#tunnelling.backend, ['Connection: Upgrade', 'Upgrade: websocket']))
    if (head.length > 0) connection.write(head)
    if (early.length > 0) backendSocket.write(early)
    connection.pipe(backendSocket)
    backendSocket.pipe(connection)
  }

  /** The backend refused the upgrade: its answer is passed on, and the connection ends. */
  #passRefusal(answer: IncomingMessage): void {
    const { connection } = this.#visit
    if (this.#isOver) return
    if ((answer.statusCode ?? 0) < 200 || !isPlainlyFramed(answer.rawHeaders)) {
      this.#fail(502, new Error('the backend gave no answer that ends'))
      return
    }
    this.#hasAnswered = true
    this.#tunnelling.watch.start(this)
    connection.write(headOf(answer, this.#tunnelling.backend, ['Connection: close']))
    answer.once('close', () => {
      const client = connection as Socket
      if (answer.complete) client.destroySoon()
      else cutOff(client)
    })
    answer.pipe(connection)
  }

  #fail(status: Refusal, error: Error): void {
    if (this.#isOver) return
    this.#tunnelling.onFault(status, error)
    this.#finish()
    this.#visit.refuse(status)
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#tunnelling.watch.end(this)
    this.#tunnelling.onEnd()
    if (!this.#joined) this.#asking.destroy()
    this.#joined?.setTimeout(flushMs, () => this.#joined?.destroy())
    this.#joined?.destroySoon()
  }
}

function headOf(answer: IncomingMessage, backend: Backend, more: readonly string[]): Buffer {
  const headers = responseHeaders(answer.rawHeaders, backend)
  const lines = [`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage ?? ''}`]
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  return Buffer.from(`${[...lines, ...more].join('\r\n')}\r\n\r\n`, 'latin1')
}
