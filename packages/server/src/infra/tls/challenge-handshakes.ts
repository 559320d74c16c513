import type { Socket } from 'node:net'
import { createSecureContext, type Server, TLSSocket } from 'node:tls'
import type { Clock } from '#lib/clock.ts'
import type { KeyPair } from './certificates.ts'
import { type ClientHello, readClientHello } from './client-hello.ts'

interface ChallengeOptions {
  readonly clock: Clock
  /** The certificate that proves a name to an authority; undefined where none is asked for. */
  find(name: string): Promise<KeyPair | undefined>
}

// RFC 8737 section 4.
const challengeProtocol = 'acme-tls/1'
const helloWithinMs = 15_000

/** Answers handshakes of authorities (tls-alpn-01) on a listener, and hands every other connection on. The certificate of such
 * a handshake depends on its protocol, which the library tells only after it has chosen one: so its first bytes are read here. */
export function answerChallengeHandshakes(server: Server, options: ChallengeOptions): void {
  const handlers = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const handOn = () => {
      for (const handler of handlers) handler.call(server, socket)
    }
    readHello(socket, options.clock, (hello) => {
      if (isChallenge(hello)) void prove(socket, hello.serverName, options)
      else handOn()
    })
  })
}

type Named = ClientHello & { readonly serverName: string }

function isChallenge(hello: ClientHello | undefined): hello is Named {
  return (
    hello?.serverName !== undefined &&
    hello.protocols.length === 1 &&
    hello.protocols[0] === challengeProtocol
  )
}

/** Reads until the ClientHello is complete, and puts all bytes back. Connections that end before it are ignored. */
function readHello(socket: Socket, clock: Clock, done: (hello: ClientHello | undefined) => void): void {
  let bytes = Buffer.alloc(0)
  const cancel = clock.wakeAt(clock.now() + helloWithinMs, () => socket.destroy())
  const ignore = () => undefined
  const onReadable = () => {
    // In one piece each time: they may come one by one.
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read())
      bytes = Buffer.concat([bytes, chunk])
    const hello = readClientHello(bytes)
    if (hello === 'incomplete' && !socket.readableEnded) return
    cancel()
    socket.off('readable', onReadable).off('error', ignore).off('end', onEnd)
    socket.unshift(bytes)
    done(typeof hello === 'string' ? undefined : hello)
  }
  const onEnd = () => socket.destroy()
  socket.on('error', ignore).on('readable', onReadable).on('end', onEnd).once('close', cancel)
}

async function prove(socket: Socket, serverName: string, { find }: ChallengeOptions): Promise<void> {
  socket.on('error', () => undefined)
  try {
    const pair = await find(serverName)
    if (!pair || socket.destroyed) {
      socket.destroy()
      return
    }
    const secure = new TLSSocket(socket, {
      isServer: true,
      secureContext: createSecureContext(pair),
      ALPNProtocols: [challengeProtocol],
    })
    secure.setTimeout(helloWithinMs, () => secure.destroy())
    secure.on('error', () => undefined).once('secure', () => secure.end())
  } catch {
    socket.destroy()
  }
}
