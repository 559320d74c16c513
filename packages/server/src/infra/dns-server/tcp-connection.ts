import type { Socket } from 'node:net'
import type { Clock } from '#lib/clock.ts'
import type { Responder } from './responder.ts'

// Per question, and for the client to take each message of an answer.
const tcpPatienceMs = 10_000
// Questions are short; a signed IXFR with its SOA record has less than 1 kB.
const maxQueryBytes = 4096

interface TcpDeps {
  readonly responder: Responder
  readonly clock: Clock
  readonly ip: string
}

/** Answers the questions of one connection, one after the other, until it ends. */
export async function serveConnection(socket: Socket, { responder, clock, ip }: TcpDeps): Promise<void> {
  let giveUp = () => {}
  const expect = () => {
    giveUp()
    giveUp = clock.wakeAt(clock.now() + tcpPatienceMs, () => void socket.destroy())
  }
  socket.once('close', () => giveUp())
  try {
    expect()
    for await (const message of messagesOf(socket)) {
      for await (const answer of responder.answerStream(message, ip)) {
        expect()
        await send(socket, answer)
      }
      expect()
    }
  } finally {
    // Sends what is still buffered before it closes.
    socket.destroySoon()
  }
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
