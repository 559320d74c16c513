import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '#lib/clock.ts'
import { answerParserError } from './parser-error.ts'

const maxHeaderBytes = 16 * 1024
const headersTimeoutMs = 15_000
// Longer than the usual minute of load balancers, so that they and not we close an idle connection.
const keepAliveTimeoutMs = 65_000
// Without a byte in either direction; the longest poll is half a minute.
const silenceTimeoutMs = 120_000

/** The server of Node with our limits. `isUpgrade` says which requests become `upgrade` events: whatever else asks for
 * another protocol is answered in this one. */
export function createNodeServer(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
  { clock, isUpgrade }: { readonly clock: Clock; isUpgrade(request: IncomingMessage): boolean },
): Server {
  const server = createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headersTimeoutMs,
      // Bodies have limits of their own: an upload may take its time as long as it moves.
      requestTimeout: 0,
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: 500,
      // Checked by us, to answer in our form.
      requireHostHeader: false,
      shouldUpgradeCallback: isUpgrade,
    },
    listener,
  )
  server.setTimeout(silenceTimeoutMs)
  // A client that waits for leave to send its body gets it when its request has passed every check.
  server.on('checkContinue', listener)
  server.on('checkExpectation', listener)
  server.on('clientError', (error, socket) => answerParserError(error, socket as Socket, clock))
  return server
}
