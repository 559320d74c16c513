import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { Server as SecureServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Clock } from '#lib/clock.ts'
import { answerParserError } from './parser-error.ts'
import { inTurn } from './request-turns.ts'

export const maxHeaderBytes = 16 * 1024
export const headersTimeoutMs = 15_000
// Longer than the usual minute of load balancers, so that they and not we close an idle connection.
export const keepAliveTimeoutMs = 65_000
// Without a byte in either direction; the longest poll is half a minute.
export const silenceTimeoutMs = 120_000

export type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** A server of Node that speaks HTTP/1, with TLS or without. */
export type NodeServer = Server | SecureServer

export interface NodeServerOptions {
  readonly clock: Clock
  /** Which requests become `upgrade` events: whatever else asks for another protocol is answered in this one. */
  isUpgrade(request: IncomingMessage): boolean
}

/** The server of Node with our limits. */
export function createNodeServer(listener: Listener, options: NodeServerOptions): Server {
  const server = createServer(http1Options(options))
  listenForHttp1(server, listener, options)
  return server
}

/** What limits HTTP/1 on a connection. */
export function http1Options({ isUpgrade }: NodeServerOptions): ServerOptions {
  return {
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersTimeoutMs,
    // Bodies have limits of their own: an upload may take its time as long as it moves.
    requestTimeout: 0,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: 500,
    // Checked by us, to answer in our form.
    requireHostHeader: false,
    shouldUpgradeCallback: isUpgrade,
  }
}

/** What a server of HTTP/1 does beside answering requests. */
export function listenForHttp1(server: NodeServer, listener: Listener, { clock }: NodeServerOptions): void {
  server.setTimeout(silenceTimeoutMs)
  const take = inTurn(listener)
  server.on('request', take)
  // A client that waits for leave to send its body gets it when its request has passed every check.
  server.on('checkContinue', take)
  server.on('checkExpectation', take)
  server.on('clientError', (error, socket) => answerParserError(error, socket as Socket, clock))
}
