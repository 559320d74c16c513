import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { LoopGuard } from '#infra/egress/index.ts'
import { createMemoryRateLimits, defaultRateLimits } from '#infra/http/index.ts'
import { type Backend, openProxy } from '#infra/proxy/index.ts'
import { type HttpSite, type HttpSiteOptions, startHttpSite } from './http-site.ts'
import { startSecureSite } from './secure-site.ts'
import { TestClock } from './test-clock.ts'

/** The proxied host of `startProxiedSite`. */
export const wiki = 'wiki.example.org'

/** What a backend does with a request; every test gives its own. */
type Behaviour = RequestListener

/** A real backend, and a server in front of it that passes the requests of one host on. */
export function startProxiedSite(given: { trustedProxies?: string[] } = {}) {
  return startBefore((options) => startHttpSite([], { ...options, ...given }))
}

/** The same with a server that speaks TLS. */
export function startSecureProxiedSite() {
  return startBefore((options) => startSecureSite([], options))
}

async function startBefore<Site extends HttpSite>(start: (options: HttpSiteOptions) => Promise<Site>) {
  const clock = new TestClock()
  const backendServer = createServer((request, response) => behave(request, response))
  let behave: Behaviour = (_, response) => void response.end('hello')
  const origin = await listenOn(backendServer)
  let backend: Backend = backendAt(origin)
  const warnings: { fields: object; message: string }[] = []
  const loopGuard = new LoopGuard()
  const find = (host: string) => (host === wiki ? backend : undefined)
  const log = (fields: object, message: string) => void warnings.push({ fields, message })
  const refusals: number[] = []
  const onRefused = (status: number) => void refusals.push(status)
  const logger = { warn: log, error: log }
  const proxy = openProxy({ clock, logger, loopGuard, find, known: find, onRefused })
  const rateLimits = createMemoryRateLimits(clock, { ...defaultRateLimits, anonymous: 20 })
  const site = await start({ clock, loopGuard, rateLimits, proxiedHosts: proxy })
  return {
    clock,
    site,
    proxy,
    warnings,
    refusals,
    backendServer,
    /** What the backend answers from now on. */
    answerWith(next: Behaviour) {
      behave = next
    },
    configure(change: Partial<Backend>) {
      backend = { ...backendAt(origin), ...change }
    },
    /** Headers by name in lower case, as the backend got them, of one request in plain text. */
    async passed(raw: string): Promise<{ answer: string; request: IncomingMessage | undefined }> {
      let seen: IncomingMessage | undefined
      behave = (request, response) => {
        seen = request
        request.resume().on('end', () => response.end('passed'))
      }
      return { answer: await site.sendRaw(raw), request: seen }
    },
    /** A connection to the server in front. */
    connect: (): Socket => connect(site.port, '127.0.0.1'),
    async close(): Promise<void> {
      await proxy.stop()
      await site.close()
      await proxy[Symbol.asyncDispose]()
      backendServer.closeAllConnections()
      backendServer.close()
    },
  }
}

export type ProxiedSite = Awaited<ReturnType<typeof startProxiedSite>>

export function backendAt(origin: string): Backend {
  return {
    host: wiki,
    origin,
    preservesHost: true,
    connectTimeoutMs: 5_000,
    readTimeoutMs: 60_000,
    takesWebSockets: true,
    requestHeaders: new Map(),
    responseHeaders: new Map(),
    stripPrefix: undefined,
  }
}

async function listenOn(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A backend that says and hangs up as it is told, whatever it is asked. */
export async function startRawBackend(onConnection: (socket: Socket) => void) {
  const open = new Set<Socket>()
  const server = createTcpServer((socket) => {
    open.add(socket)
    socket.on('error', () => undefined)
    onConnection(socket)
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}

/** Everything that comes over a connection, and whether it was cut off. */
export async function readToEnd(socket: Socket): Promise<{ received: string; isReset: boolean }> {
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
  })
  const isReset = await new Promise<boolean>((resolve) => {
    socket.once('error', () => resolve(true))
    socket.once('end', () => resolve(false))
  })
  return { received, isReset }
}

/** The next bytes of a connection that hold this text. */
export async function readUntil(socket: Socket, wanted: string): Promise<string> {
  let received = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    received += String(chunk)
    if (received.includes(wanted)) return received
  }
  throw new Error(`the connection ended with ${received}`)
}
