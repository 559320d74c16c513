import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { PassThrough } from 'node:stream'
import type { Dispatcher, Pool } from 'undici'
import type { ProxiedRequest } from '#infra/http/index.ts'
import { type Backend, backendPath } from './backend.ts'
import type { BackendPools } from './backend-pools.ts'
import { cutOff } from './cut-off.ts'
import {
  isPlainlyFramed,
  passedTrailers,
  requestHeaders,
  responseHeaders,
  textsOf,
} from './passed-headers.ts'
import type { Refusal } from './refusal.ts'
import { hasBody, isWaiting } from './request-faults.ts'
import { type SilenceWatch, Watched } from './silence-watch.ts'

interface Forwarding {
  readonly pool: Pool
  readonly pools: Pick<BackendPools, 'isConnectionFailing'>
  readonly backend: Backend
  readonly via: string
  readonly watch: SilenceWatch
  /** Told why the backend did not answer, or not to the end. */
  onFault(status: Refusal, error: Error): void
  /** Called when the exchange has ended in any way. */
  onEnd(): void
}

/** Passes one request on and its answer back, piece by piece: neither is ever kept as a whole. */
export function forwardRequest(visit: ProxiedRequest, forwarding: Forwarding): { end(why: string): void } {
  const exchange = new ForwardedExchange(visit, forwarding)
  exchange.dispatch()
  return { end: (why) => exchange.fail(503, new Error(why)) }
}

type Controller = Dispatcher.DispatchController
type RawHeaders = readonly (string | Buffer)[]
type RawController = Controller & { readonly rawHeaders?: RawHeaders; readonly rawTrailers?: RawHeaders }

// What may be tried again when a kept connection turns out to be closed: nothing has changed by it.
const repeatable = new Set(['GET', 'HEAD', 'OPTIONS'])
// They count as nothing that moves, and a backend can send them without end.
const maxInformed = 10
const noneSet = new Map()
const closedConnection = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

class ForwardedExchange extends Watched implements Dispatcher.DispatchHandler {
  limitMs: number
  readonly #visit: ProxiedRequest
  readonly #forwarding: Forwarding
  readonly #body: PassThrough | undefined
  #controller: Controller | undefined
  #hasSentBody = false
  #isOver = false
  #hasRepeated = false
  #informed = 0

  constructor(visit: ProxiedRequest, forwarding: Forwarding) {
    super()
    const { request, response } = visit
    this.#visit = visit
    this.#forwarding = forwarding
    this.limitMs = forwarding.backend.connectTimeoutMs
    this.#body = hasBody(request) ? bodyOf(request) : undefined
    // `SilenceWatch` replaces the time-out of the connection, which may be shorter than the site's.
    request.socket.setTimeout(0)
    forwarding.watch.start(this)
    response.on('drain', () => this.#controller?.resume())
    response.once('close', () => this.#onClosed())
  }

  dispatch(): void {
    const { request, peer } = this.#visit
    const { pool, backend, via } = this.#forwarding
    try {
      pool.dispatch(
        {
          path: backendPath(request.url ?? '/', backend),
          method: (request.method ?? 'GET') as Dispatcher.HttpMethod,
          headers: requestHeaders(request, { peer, via, backend }),
          body: this.#body ?? null,
          ...serverNameOf(backend),
        } as Dispatcher.DispatchOptions,
        this,
      )
    } catch (error) {
      this.fail(400, error as Error)
    }
  }

  /** Of the visitor's connection, where all bytes pass. 0 until the backend is connected. */
  countBytes(): number {
    if (!this.#controller) return 0
    const { socket } = this.#visit.request
    return socket.bytesRead + socket.bytesWritten
  }

  onSilence(): void {
    const { request } = this.#visit
    const waitsForVisitor = this.#controller !== undefined && this.#body !== undefined && !request.complete
    this.fail(waitsForVisitor ? 408 : 504, new Error('nothing moved for too long'))
  }

  onRequestStart(controller: Controller): void {
    if (this.#isOver) {
      controller.abort(new Error('nobody waits for this any more'))
      return
    }
    this.#controller = controller
    this.limitMs = this.#forwarding.backend.readTimeoutMs
    this.#forwarding.watch.start(this)
    const { request, response } = this.#visit
    if (this.#body && isWaiting(request)) response.writeContinue()
  }

  onResponseStart(controller: Controller, status: number, _: unknown, statusText?: string): void {
    if (this.#isOver) return
    const { response } = this.#visit
    const texts = textsOf((controller as RawController).rawHeaders ?? [])
    if (status < 200) {
      this.#inform(status, texts)
      return
    }
    if (!isPlainlyFramed(texts)) {
      this.fail(502, new Error('the answer has a transfer coding that no client asked for'))
      return
    }
    const headers = responseHeaders(texts, this.#forwarding.backend)
    response.writeHead(status, isPhrase(statusText) ? statusText : '', headers)
    // What came with the headers goes with them in one write; the headers of a stream do not wait for its first event.
    process.nextTick(() => {
      if (!this.#hasSentBody && !this.#isOver && !response.writableEnded) response.flushHeaders()
    })
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.#hasSentBody = true
    if (!this.#isOver && !this.#visit.response.write(chunk)) controller.pause()
  }

  onResponseEnd(controller: Controller): void {
    if (this.#isOver) return
    // An answer without a length ends with its connection, as the client library sees it in whichever way that ends.
    if (this.#forwarding.pools.isConnectionFailing) {
      this.fail(502, new Error('the answer broke off'))
      return
    }
    const { rawTrailers = [] } = controller as RawController
    if (rawTrailers.length > 0) this.#visit.response.addTrailers(passedTrailers(textsOf(rawTrailers)))
    this.#visit.response.end()
    if (!this.#visit.request.complete) this.#visit.discardRest()
  }

  onResponseError(_: Controller, error: Error): void {
    if (this.#isOver) return
    const { request, response } = this.#visit
    if (request.socket.destroyed) {
      this.#onClosed()
      return
    }
    const code = 'code' in error ? String(error.code) : ''
    const mayRepeat = repeatable.has(request.method ?? '') && !this.#body && closedConnection.has(code)
    if (mayRepeat && this.#controller && !this.#hasRepeated && !response.headersSent) {
      this.#hasRepeated = true
      this.#controller = undefined
      this.dispatch()
    } else this.fail(statusOf(code), error)
  }

  /** Passes an answer on that comes before the final one, such as 103 Early Hints (RFC 9110 section 15.2). */
  #inform(status: number, texts: readonly string[]): void {
    const { request, response } = this.#visit
    if (request.httpVersion === '1.0' || this.#informed >= maxInformed) return
    this.#informed += 1
    response.writeInformation(status, responseHeaders(texts, { responseHeaders: noneSet }))
  }

  /** Ends the exchange with a status, or by a reset where an answer has begun: a part must not look like the whole. */
  fail(status: Refusal, error: Error): void {
    if (this.#isOver) return
    const { response, request, refuse } = this.#visit
    const hasBegun = response.headersSent
    this.#finish()
    this.#forwarding.onFault(status, error)
    try {
      if (hasBegun) cutOff(request.socket)
      else refuse(status)
    } catch {
      // What could not be written before may still stand in the way.
      cutOff(request.socket)
    } finally {
      this.#release(error)
    }
  }

  #onClosed(): void {
    if (this.#isOver) return
    this.#finish()
    if (!this.#visit.response.writableFinished) this.#release(new Error('the visitor has gone'))
  }

  #finish(): void {
    this.#isOver = true
    this.#forwarding.watch.end(this)
    this.#forwarding.onEnd()
  }

  #release(error: Error): void {
    this.#controller?.abort(error)
    if (!this.#body) return
    this.#visit.request.unpipe(this.#body)
    this.#body.destroy()
  }
}

function statusOf(code: string): Refusal {
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 504
  // The client library sends no such request, as OPTIONS of `*`.
  return code === 'UND_ERR_INVALID_ARG' ? 400 : 502
}

/** Some send words in their own language, in whichever coding. */
function isPhrase(text: string | undefined): text is string {
  return text !== undefined && /^[\t\x20-\x7e]*$/.test(text)
}

/** The name that the certificate of an https backend is checked for, whatever host the visitor asked for. */
function serverNameOf({ origin }: Backend): { servername?: string } {
  if (!origin.startsWith('https:')) return {}
  const { hostname } = new URL(origin)
  return isIP(hostname) === 0 ? { servername: hostname } : {}
}

/** The body as a stream of its own: the client library destroys it when the backend answers early, and the visitor's
 * connection must outlive that. */
function bodyOf(request: IncomingMessage): PassThrough {
  const body = new PassThrough()
  // Without a listener the error of an ended exchange would end the process.
  body.on('error', () => undefined)
  request.once('close', () => {
    if (!request.complete) body.destroy(new Error('the visitor has gone'))
  })
  return request.pipe(body)
}
