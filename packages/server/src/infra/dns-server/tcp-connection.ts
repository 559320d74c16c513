import type { Socket } from 'node:net'
import { setImmediate as turnOfEventLoop } from 'node:timers/promises'
import type { Clock } from '#lib/clock.ts'
import { networkOf } from './network-limits.ts'
import type { RareLines } from './rare-lines.ts'
import type { Responder } from './responder.ts'

// Per question, and for the client to take each message of an answer.
const tcpPatienceMs = 10_000
// Questions are short; a signed IXFR with its SOA record has less than 1 kB.
const maxQueryBytes = 4096
const maxConnections = 200
const maxConnectionsPerNetwork = 20

interface TcpDeps {
  readonly responder: Responder
  readonly clock: Clock
  readonly lines: RareLines
  /** In how many milliseconds the next question of an address may be answered. */
  readonly waitMsOf: (ip: string) => number
}

/** Those of all addresses of a server are counted together. */
interface Connections {
  readonly open: ReadonlySet<Socket>
  serve(socket: Socket): void
}

export function openConnections(deps: TcpDeps): Connections {
  const connections = new OpenConnections()
  return {
    open: connections.all,
    serve(socket) {
      const ip = socket.remoteAddress ?? ''
      socket.on('error', () => {})
      if (!connections.add(socket, networkOf(ip))) return void socket.destroy()
      serveConnection(socket, { ...deps, ip, idle: connections.idle }).catch((error) => {
        // Clients end connections as they like.
        if (!socket.destroyed) deps.lines.write('warn', { err: error }, 'a DNS connection failed')
      })
    },
  }
}

/** The open connections: `maxConnections` at most, and of one network `maxConnectionsPerNetwork`. */
class OpenConnections {
  readonly all = new Set<Socket>()
  /** Those that are not being answered. The one that was answered longest ago stands first. */
  readonly idle = new Set<Socket>()
  readonly #perNetwork = new Map<string, number>()

  /** Where all are open, in the place of the one that is idle longest (RFC 7766 section 6.2.3). */
  add(socket: Socket, network: string): boolean {
    const open = this.#perNetwork.get(network) ?? 0
    if (open >= maxConnectionsPerNetwork) return false
    if (this.all.size >= maxConnections && !this.#closeIdle()) return false
    this.all.add(socket)
    this.idle.add(socket)
    this.#perNetwork.set(network, (this.#perNetwork.get(network) ?? 0) + 1)
    socket.once('close', () => {
      this.all.delete(socket)
      this.idle.delete(socket)
      const left = (this.#perNetwork.get(network) ?? 1) - 1
      if (left > 0) this.#perNetwork.set(network, left)
      else this.#perNetwork.delete(network)
    })
    return true
  }

  #closeIdle(): boolean {
    const [longest] = this.idle
    if (!longest) return false
    // Its end is only told later.
    this.all.delete(longest)
    this.idle.delete(longest)
    longest.destroy()
    return true
  }
}

interface Serving extends TcpDeps {
  readonly ip: string
  readonly idle: Set<Socket>
}

/** Answers the questions of one connection, one after the other, until it ends. */
async function serveConnection(
  socket: Socket,
  { responder, clock, waitMsOf, ip, idle }: Serving,
): Promise<void> {
  const closing = new AbortController()
  let callOff = () => {}
  const expect = () => {
    callOff = clock.wakeAt(clock.now() + tcpPatienceMs, () => void socket.destroy())
  }
  socket.once('close', () => {
    callOff()
    closing.abort()
  })
  try {
    expect()
    for await (const message of messagesOf(socket)) {
      callOff()
      await pause(clock, waitMsOf(ip), closing.signal)
      if (socket.destroyed) return
      idle.delete(socket)
      for await (const answer of responder.answerStream(message, ip, closing.signal)) {
        expect()
        await send(socket, answer)
        callOff()
        // A database that answers at once, and a socket that takes everything, would let nobody else have a turn.
        await turnOfEventLoop()
      }
      if (socket.destroyed) return
      idle.add(socket)
      expect()
    }
  } finally {
    callOff()
    // Sends what is still buffered before it closes.
    socket.destroySoon()
  }
}

/** Ends before its time when the signal is aborted. */
async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0 || signal.aborted) return
  await new Promise<void>((resolve) => {
    const end = () => {
      callOff()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const callOff = clock.wakeAt(clock.now() + ms, end)
    signal.addEventListener('abort', end)
  })
}

/** Messages are preceded by their length in two bytes; one that is too long for a question ends the connection. */
async function* messagesOf(socket: Socket): AsyncGenerator<Buffer> {
  // Bounded by one message and the chunk in which it ended.
  let received: Buffer = Buffer.alloc(0)
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    received = Buffer.concat([received, chunk])
    while (received.length >= 2) {
      const length = received.readUInt16BE(0)
      if (length > maxQueryBytes) return
      if (received.length < 2 + length) break
      yield received.subarray(2, 2 + length)
      received = received.subarray(2 + length)
    }
  }
}

/** Resolves when the socket has taken the answer, or is closed. */
async function send(socket: Socket, answer: Buffer): Promise<void> {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(answer.length)
  if (socket.destroyed) throw new Error('the connection has ended')
  await new Promise<void>((resolve) => socket.write(Buffer.concat([length, answer]), () => resolve()))
}
