import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'

/** A port of 127.0.0.1 that nobody listens on now, for TCP or UDP. It is none of those that systems give to whoever asks for any
 * (from 32768), or another test might get it meanwhile. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_768)
    if ((await isFreeForTcp(port)) && (await isFreeForUdp(port))) return port
  }
}

function isFreeForTcp(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('listening', () => server.close(() => resolve(true)))
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1')
  })
}

function isFreeForUdp(port: number): Promise<boolean> {
  const socket = createSocket('udp4')
  return new Promise((resolve) => {
    socket.once('listening', () => socket.close(() => resolve(true)))
    socket.once('error', () => resolve(false))
    socket.bind(port, '127.0.0.1')
  })
}
