import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createHttpsServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'

export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly servername: string | undefined
}

/** A foreign web server on a free port, which does what a test wants. */
export interface OriginServer extends AsyncDisposable {
  readonly port: number
  /** By address: `http://127.0.0.1:PORT`. */
  readonly url: string
  readonly requests: readonly SeenRequest[]
  /** Connections that were ever opened. */
  readonly connections: () => number
  onUpgrade(take: (request: IncomingMessage, connection: Duplex, head: Buffer) => void): void
  close(): Promise<void>
}

export async function startOrigin(
  listener: RequestListener,
  options: { readonly tls?: ServerOptions; readonly host?: string; readonly port?: number } = {},
): Promise<OriginServer> {
  const requests: SeenRequest[] = []
  const handle: RequestListener = async (request, answer) => {
    const body = (await buffer(request)).toString()
    const { method = '', url = '', headers, socket } = request
    const servername = 'servername' in socket ? String(socket.servername) : undefined
    requests.push({ method, url, headers, body, servername })
    listener(request, answer)
  }
  const server = options.tls ? createHttpsServer(options.tls, handle) : createHttpServer(handle)
  let connections = 0
  server.on('connection', () => {
    connections += 1
  })
  const host = options.host ?? '127.0.0.1'
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return {
    port,
    url: `${options.tls ? 'https' : 'http'}://${host}:${port}`,
    requests,
    connections: () => connections,
    onUpgrade: (take) => void server.on('upgrade', take),
    close,
    [Symbol.asyncDispose]: close,
  }
}
