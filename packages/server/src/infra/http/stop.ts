import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '#lib/clock.ts'

/** How long a stop waits for running requests: until they are asked to give up, and until they are cut off. */
interface StopLimits {
  readonly abortAfterMs: number
  readonly destroyAfterMs: number
}

/** The open connections of a server, upgraded ones too. Bound: the process's file descriptors. */
export function trackSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}

const sweepEveryMs = 50

/** Stops accepting, waits for running requests, then aborts and finally cuts off what is left. */
export async function stopGracefully(
  server: Server,
  sockets: ReadonlySet<Socket>,
  options: StopLimits & { readonly clock: Clock; abort(): void },
): Promise<void> {
  const { clock } = options
  const startedAtMs = clock.now()
  // Connections that become idle while others are busy would otherwise stay until their keep-alive ends. Not by the clock:
  // one that stands still must not keep a connection that is idle a moment after the stop.
  const sweeping = setInterval(() => server.closeIdleConnections(), sweepEveryMs)
  const cancelAbort = clock.wakeAt(startedAtMs + options.abortAfterMs, options.abort)
  const cancelDestroy = clock.wakeAt(startedAtMs + options.destroyAfterMs, () => {
    for (const socket of sockets) socket.destroy()
  })
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  await closed
  clearInterval(sweeping)
  options.abort()
  for (const cancel of [cancelAbort, cancelDestroy]) cancel()
}
