import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** The answer that Node writes on a connection; those to requests behind it wait. Undefined between two requests. */
export function answerUnderWay(connection: Duplex): unknown {
  return '_httpMessage' in connection ? (connection._httpMessage ?? undefined) : undefined
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void

// More than any client sends ahead; each is an open request.
const mostWaiting = 100

/** Takes the requests of a connection one after the other: one that is sent ahead (pipelining) begins when the answer before
 * has ended, since it may change something (RFC 9112 section 9.3.2), and so that a connection is one request under way. */
export function inTurn(listener: Listener): Listener {
  const waiting = new WeakMap<Duplex, number>()
  return (request, response) => {
    const { socket } = request
    if (answerUnderWay(socket) === response) {
      listener(request, response)
      return
    }
    const before = waiting.get(socket) ?? 0
    if (before >= mostWaiting) {
      socket.destroy()
      return
    }
    waiting.set(socket, before + 1)
    // Told by Node when the turn of this answer has come.
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1)
      listener(request, response)
    })
  }
}
