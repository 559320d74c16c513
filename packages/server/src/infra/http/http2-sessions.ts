import { constants, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Clock } from '#lib/clock.ts'

interface SessionLimits {
  /** From the handshake to the first request. */
  readonly firstRequestMs: number
  /** Between two requests. */
  readonly idleMs: number
  /** For one request, without a byte in either direction. */
  readonly silenceMs: number
}

// For the client to take notice before the connection is cut off.
const farewellMs = 1_000

/** The open HTTP/2 connections of a server. One without a request under way is ended after a while, whatever bytes arrive
 * meanwhile: half a request must not keep it open. */
export class Http2Sessions {
  readonly #clock: Clock
  readonly #limits: SessionLimits
  // Bound: the connections of the server.
  readonly #open = new Set<ServerHttp2Session>()

  constructor(clock: Clock, limits: SessionLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  watch(server: Http2Server): void {
    server.on('session', (session) => this.#add(session))
    // Without a listener an error of a session would end the process.
    server.on('sessionError', () => undefined)
  }

  /** Lets requests under way finish, and takes no more. */
  close(): void {
    for (const session of this.#open) session.close()
  }

  #add(session: ServerHttp2Session): void {
    let underWay = 0
    let cancel = this.#endAfter(session, this.#limits.firstRequestMs)
    this.#open.add(session)
    session.once('close', () => {
      cancel()
      this.#open.delete(session)
    })
    session.on('stream', (stream) => {
      cancel()
      underWay += 1
      this.#endSilent(stream)
      stream.once('close', () => {
        underWay -= 1
        if (underWay === 0 && !session.destroyed) cancel = this.#endAfter(session, this.#limits.idleMs)
      })
    })
  }

  #endSilent(stream: ServerHttp2Stream): void {
    stream.setTimeout(this.#limits.silenceMs, () => stream.close(constants.NGHTTP2_CANCEL))
  }

  #endAfter(session: ServerHttp2Session, ms: number): () => void {
    let cancelCut: () => void = () => undefined
    const cancel = this.#clock.wakeAt(this.#clock.now() + ms, () => {
      session.close()
      cancelCut = this.#clock.wakeAt(this.#clock.now() + farewellMs, () => session.destroy())
    })
    return () => {
      cancel()
      cancelCut()
    }
  }
}
