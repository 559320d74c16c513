import type { Socket } from 'node:net'
import { Bag, type BagMember } from '#lib/bag.ts'
import type { Clock } from '#lib/clock.ts'
import type { NodeServer } from './node-server.ts'

interface Stopping {
  readonly clock: Clock
  readonly abortAfterMs: number
  /** Asks running requests to give up. */
  abort(): void
  readonly destroyAfterMs: number
  /** Answers those that have no answer yet, before their connections end. */
  answerRest(): void
}

interface OpenSocket extends BagMember {
  readonly socket: Socket
}

/** The open connections of a server, upgraded ones too. Bound: the process's file descriptors. */
export function trackSockets(server: NodeServer): Iterable<OpenSocket> {
  const sockets = new Bag<OpenSocket>()
  server.on('connection', (socket: Socket) => {
    const open = { socket, bagIndex: -1 }
    sockets.add(open)
    socket.once('close', () => sockets.delete(open))
  })
  return sockets
}

const sweepEveryMs = 50

/** Stops accepting, waits for running requests, then aborts and finally cuts off what is left. */
export async function stopGracefully(
  server: NodeServer,
  sockets: Iterable<OpenSocket>,
  options: Stopping,
): Promise<void> {
  const { clock } = options
  const startedAtMs = clock.now()
  // Connections that become idle while others are busy would otherwise stay until their keep-alive ends. Not by the clock:
  // one that stands still must not keep a connection that is idle a moment after the stop.
  const sweeping = setInterval(() => server.closeIdleConnections(), sweepEveryMs)
  const cancelAbort = clock.wakeAt(startedAtMs + options.abortAfterMs, options.abort)
  const cancelDestroy = clock.wakeAt(startedAtMs + options.destroyAfterMs, () => {
    options.answerRest()
    // The answers are handed to the system within this turn of the loop.
    setImmediate(() => {
      for (const { socket } of sockets) socket.destroy()
    })
  })
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  await closed
  clearInterval(sweeping)
  options.abort()
  for (const cancel of [cancelAbort, cancelDestroy]) cancel()
}
