import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { pipeline, Transform } from 'node:stream'

// What the line takes in one turn of its timer.
const turnsPerSec = 50

/** A way to a server that carries so many bytes in a second, in each direction of each connection. */
export class SlowLink implements AsyncDisposable {
  readonly port: number
  /** What the server has sent over it so far. */
  receivedBytes = 0
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
  }

  static async open(targetPort: number, bytesPerSec: number): Promise<SlowLink> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const link = new SlowLink(server)
    server.on('connection', (caller) => {
      const target = connect(targetPort, '127.0.0.1')
      for (const socket of [caller, target]) {
        link.#sockets.add(socket)
        socket.on('close', () => link.#sockets.delete(socket))
      }
      const count = (bytes: number) => {
        link.receivedBytes += bytes
      }
      const end = () => [caller, target].forEach((socket) => void socket.destroy())
      pipeline(target, throttle(bytesPerSec, count), caller, end)
      pipeline(caller, throttle(bytesPerSec), target, end)
    })
    return link
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

function throttle(bytesPerSec: number, onPassed: (bytes: number) => void = () => undefined): Transform {
  const turnBytes = Math.ceil(bytesPerSec / turnsPerSec)
  return new Transform({
    highWaterMark: turnBytes,
    transform(chunk: Buffer, _encoding, done) {
      const pass = (left: Buffer) => {
        if (left.length === 0) return done()
        const now = left.subarray(0, turnBytes)
        setTimeout(
          () => {
            this.push(now)
            onPassed(now.length)
            pass(left.subarray(turnBytes))
          },
          (1000 * now.length) / bytesPerSec,
        )
      }
      pass(chunk)
    },
  })
}
