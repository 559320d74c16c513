import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Edge } from './edge.ts'

const maxHeaderBytes = 16 * 1024
const headersTimeoutMs = 15_000
// Longer than the usual minute of load balancers, so that they and not we close an idle connection.
const keepAliveTimeoutMs = 65_000
// Without a byte in either direction; the longest poll is half a minute.
const silenceTimeoutMs = 120_000

/** Does this request ask for a protocol that is spoken at its path? */
export type UpgradeCheck = (request: IncomingMessage) => boolean

const routedMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])

const mediaTypeForm = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/

/** What is no media type says nothing: the router would refuse it before anybody knows whether it matters. */
function dropUnreadableType({ headers }: IncomingMessage): void {
  const type = headers['content-type']
  if (type !== undefined && !mediaTypeForm.test(type)) delete headers['content-type']
}

/** The server of Node with our limits; every request goes by the edge to the router. */
export function createNodeServer(
  edge: Edge,
  {
    route,
    unrouted,
  }: Record<'route' | 'unrouted', (request: IncomingMessage, response: ServerResponse) => void>,
  isUpgrade: UpgradeCheck,
): Server {
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    if (edge.intercept(request, response)) return
    dropUnreadableType(request)
    edge.overrideMethod(request)
    const serve = routedMethods.has(request.method ?? '') ? route : unrouted
    edge.run(request, () => serve(request, response))
  }
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
      // Whatever else asks for another protocol is answered in this one.
      shouldUpgradeCallback: isUpgrade,
    },
    listener,
  )
  server.setTimeout(silenceTimeoutMs)
  // A client that waits for leave to send its body gets it when its request has passed every check.
  server.on('checkContinue', listener)
  server.on('checkExpectation', listener)
  return server
}
