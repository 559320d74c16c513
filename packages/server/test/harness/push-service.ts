import { createECDH, randomBytes } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import ece from 'http_ece'

interface Pushed {
  readonly headers: IncomingHttpHeaders
  /** What the browser decrypts. */
  readonly message: unknown
  readonly bytes: number
}

/** What follows the head of an answer; `endless` stops in the middle. */
export type AnswerBody = 'none' | 'big' | 'endless' | 'gzip'

/** A browser that has subscribed, at a push service of its own address. */
export interface PushedBrowser {
  readonly subscription: {
    readonly endpoint: string
    readonly expirationTime: null
    readonly keys: { readonly p256dh: string; readonly auth: string }
  }
  readonly pushed: Pushed[]
  /** What the service answers; 0 for nothing at all. */
  status: number
  headers: Record<string, string>
  body: AnswerBody
}

/** A push service whose browsers decrypt with a library that is not ours. */
export class PushService implements AsyncDisposable {
  readonly #server = createServer((request, answer) => void this.#take(request, answer))
  readonly #browsers = new Map<string, { browser: PushedBrowser; decrypt: (body: Buffer) => Buffer }>()

  static async start(): Promise<PushService> {
    const service = new PushService()
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve))
    return service
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  browser(): PushedBrowser {
    const ecdh = createECDH('prime256v1')
    const p256dh = ecdh.generateKeys('base64url')
    const auth = randomBytes(16).toString('base64url')
    const path = `/send/${this.#browsers.size}`
    const subscription = {
      endpoint: `http://127.0.0.1:${this.port}${path}`,
      expirationTime: null,
      keys: { p256dh, auth },
    }
    const browser: PushedBrowser = { subscription, pushed: [], status: 201, headers: {}, body: 'none' }
    const decrypt = (body: Buffer) =>
      ece.decrypt(body, { version: 'aes128gcm', privateKey: ecdh, authSecret: auth })
    this.#browsers.set(path, { browser, decrypt })
    return browser
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #take(...[request, answer]: Parameters<Parameters<typeof createServer>[1] & object>): Promise<void> {
    // A server that is stopped hangs up in the middle.
    const body = await buffer(request).catch(() => undefined)
    if (!body) return
    const known = this.#browsers.get(request.url ?? '')
    if (!known) return void answer.writeHead(404).end()
    const { browser, decrypt } = known
    const { headers } = request
    browser.pushed.push({ headers, message: JSON.parse(decrypt(body).toString()), bytes: body.length })
    if (browser.status === 0) request.socket.destroy()
    else answerAs(browser, answer)
  }
}

function answerAs({ status, headers, body }: PushedBrowser, answer: ServerResponse): void {
  const encoding = body === 'gzip' ? { 'content-encoding': 'gzip' } : {}
  answer.writeHead(status, { ...headers, ...encoding })
  if (body === 'endless') answer.write('{')
  else answer.end({ none: '', big: Buffer.alloc(300_000, 'x'), gzip: gzipSync('{}') }[body])
}
