import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttp2Server, type Http2Server } from 'node:http2'
import { createServer, type Server } from 'node:https'
import type { TLSSocket } from 'node:tls'
import type { Certificates } from '#infra/tls/index.ts'
import { Http2Request } from './http2-request.ts'
import { Http2Response } from './http2-response.ts'
import { Http2Sessions } from './http2-sessions.ts'
import {
  headersTimeoutMs,
  http1Options,
  keepAliveTimeoutMs,
  type Listener,
  listenForHttp1,
  maxHeaderBytes,
  type NodeServerOptions,
  silenceTimeoutMs,
} from './node-server.ts'
import type { OpenServer } from './secure-listening.ts'

// Of one connection; `Edge` bounds those of one address.
const maxStreams = 100
const maxHeaderPairs = 200

/** A server that speaks HTTP/2 and HTTP/1.1 over TLS, with the same limits and the same listener as the plain one. */
export function createSecureServer(
  listener: Listener,
  options: NodeServerOptions & { readonly certificates: Certificates },
): OpenServer {
  const { certificates, clock } = options
  const server = createServer({
    ...http1Options(options),
    ALPNProtocols: ['h2', 'http/1.1'],
    minVersion: 'TLSv1.2',
    handshakeTimeout: headersTimeoutMs,
    SNICallback: (name, done) => void certificates.find(name).then((found) => done(null, found), done),
  })
  certificates.onDefault((pair) => server.setSecureContext(pair))
  listenForHttp1(server, listener, options)
  // There is no HTTP on a connection whose handshake failed.
  server.removeAllListeners('tlsClientError').on('tlsClientError', (_, socket) => socket.destroy())
  const http2 = openHttp2(listener)
  const limits = { firstRequestMs: headersTimeoutMs, idleMs: keepAliveTimeoutMs, silenceMs: silenceTimeoutMs }
  const sessions = new Http2Sessions(clock, limits)
  sessions.watch(http2)
  takeHttp2(server, http2)
  certificates.watchHandshakes?.(server)
  return { server, sessions }
}

function openHttp2(listener: Listener): Http2Server {
  const server = createHttp2Server({
    Http2ServerRequest: Http2Request,
    Http2ServerResponse: Http2Response,
    maxHeaderListPairs: maxHeaderPairs,
    // With it the header would be dropped without a word.
    strictFieldWhitespaceValidation: false,
    settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes, enablePush: false },
  })
  const take = (request: Http2Request, response: Http2Response) => {
    // Until the client has confirmed our settings its own bound holds.
    if (request.headerBytes > maxHeaderBytes) response.writeHead(431).end()
    // Both classes have the form of their namesakes in HTTP/1.
    else listener(request as unknown as IncomingMessage, response as unknown as ServerResponse)
  }
  return server.on('request', take).on('checkContinue', take).on('checkExpectation', take)
}

/** Hands connections that have agreed on HTTP/2 over. The server itself accepts them, counts them and ends them. */
function takeHttp2(server: Server, http2: Http2Server): void {
  const serveHttp1 = server.listeners('secureConnection')
  server.removeAllListeners('secureConnection')
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') http2.emit('connection', socket)
    else for (const serve of serveHttp1) serve.call(server, socket)
  })
}
