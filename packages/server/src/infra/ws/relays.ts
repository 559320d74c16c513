import type { SocketClose, SocketContract } from '@kith/protocol'
import type { RawData, WebSocket } from 'ws'
import type { Clock } from '#lib/clock.ts'
import { FrameWatch } from './frame-watch.ts'
import type { Frame, LiveSocket, SocketHandler } from './live-socket.ts'
import { Receiving } from './receiving.ts'

/** One client whose messages are passed on to another server. */
export interface RelayOptions {
  readonly socket: LiveSocket
  readonly frames: SocketContract['frames']
  /** The answer to a message that is not passed on; undefined for one that is. */
  answerInstead(frame: Frame): string | undefined
  /** Why the client's socket ends, when the other server has ended its own with this code. */
  closeOf(code: number): SocketClose
}

const tickMs = 1000
const beatTicks = 25
const maxMissedPongs = 2
// Of messages from other servers, over all relays; the longest message comes on top.
const maxReceivedBytes = 64 * 1024 ** 2
// How long another server may take to answer a close frame.
const goodbyeMs = 5000

/** The WebSockets that are passed on to other servers, bounded both ways: each side is read only as fast as the other takes it. */
export class Relays {
  readonly #clock: Clock
  readonly #receiving = new Receiving(maxReceivedBytes)
  // Bounded by the sockets of clients.
  readonly #open = new Set<Relay>()
  #ticks = 0
  #callOff: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#open.size
  }

  /** Makes room for a connection that is about to open: its bytes are counted from the first on. */
  prepare(): PreparedRelay {
    return new PreparedRelay(this.#receiving, (relay) => this.#begin(relay), this.#clock)
  }

  #begin(relay: Relay): void {
    this.#open.add(relay)
    relay.onGone = () => this.#open.delete(relay)
    this.#callOff ??= this.#clock.wakeAt(this.#clock.now() + tickMs, () => this.#tick())
  }

  #tick(): void {
    this.#receiving.tick()
    this.#ticks += 1
    if (this.#ticks % beatTicks === 0) for (const relay of this.#open) relay.beat()
    this.#callOff =
      this.#open.size === 0 ? undefined : this.#clock.wakeAt(this.#clock.now() + tickMs, () => this.#tick())
  }
}

const others = 1
const client = 2

/** The side of a relay that the other server's bytes come in by. */
export class PreparedRelay {
  readonly #begin: (relay: Relay) => void
  readonly #clock: Clock
  readonly #reception: ReturnType<Receiving['open']>
  #upstream: WebSocket | undefined
  #pauses = 0
  #hasSign = true

  constructor(receiving: Receiving, begin: (relay: Relay) => void, clock: Clock) {
    this.#begin = begin
    this.#clock = clock
    this.#reception = receiving.open({
      stopReading: () => this.#pause(others),
      readOn: () => this.#readOn(others),
      giveUp: () => this.#upstream?.terminate(),
    })
  }

  /** Counts what arrives, before the library keeps it. */
  watch(connection: NodeJS.EventEmitter, maxMessageBytes: number): void {
    const watch = new FrameWatch(maxMessageBytes)
    connection.prependListener('data', (chunk: Uint8Array) => {
      this.#hasSign = true
      if (watch.admits(chunk)) this.#reception.came(watch.messageBytes, watch.isMidMessage)
      else this.#upstream?.terminate()
    })
  }

  /** Passes messages on from now on. */
  start(upstream: WebSocket, options: RelayOptions): SocketHandler {
    this.#upstream = upstream
    const relay = new Relay(upstream, options, {
      clock: this.#clock,
      pause: () => this.#pause(client),
      readOn: () => this.#readOn(client),
      handled: (bytes) => this.#reception.handled(bytes),
      end: () => this.#reception.end(),
      takeSign: () => {
        const had = this.#hasSign
        this.#hasSign = false
        return had || this.#pauses !== 0
      },
    })
    this.#begin(relay)
    if (this.#pauses === 0) upstream.resume()
    return relay
  }

  /** There will be no connection. */
  end(): void {
    this.#reception.end()
  }

  #pause(why: number): void {
    this.#pauses |= why
    this.#upstream?.pause()
  }

  #readOn(why: number): void {
    this.#pauses &= ~why
    if (this.#pauses === 0) this.#upstream?.resume()
  }
}

interface Reading {
  readonly clock: Clock
  pause(): void
  readOn(): void
  handled(bytes: number): void
  end(): void
  /** Has anything come since the last question? What is not read cannot be a sign. */
  takeSign(): boolean
}

class Relay implements SocketHandler {
  onGone: () => void = () => undefined
  readonly #upstream: WebSocket
  readonly #options: RelayOptions
  readonly #reading: Reading
  // Messages on their way to the client. Reading pauses with the first: what is behind it came with the same read.
  #waiting = 0
  #last: Promise<void> = Promise.resolve()
  #missedPongs = 0

  constructor(upstream: WebSocket, options: RelayOptions, reading: Reading) {
    this.#upstream = upstream
    this.#options = options
    this.#reading = reading
    upstream.on('message', (data, isBinary) => this.#onMessage(data, isBinary))
    upstream.once('close', (code) => {
      this.onGone()
      reading.end()
      // What came before the end is passed on before it.
      void this.#last.then(() => options.socket.close(options.closeOf(code)))
    })
  }

  async receive(frame: Frame): Promise<void> {
    const { socket, answerInstead } = this.#options
    const own = answerInstead(frame)
    if (own !== undefined) await socket.answer(own)
    else await this.#send(frame)
  }

  gone(): void {
    this.#upstream.resume()
    this.#upstream.close(1000)
    const { clock } = this.#reading
    const callOff = clock.wakeAt(clock.now() + goodbyeMs, () => this.#upstream.terminate())
    this.#upstream.once('close', callOff)
  }

  /** Sends a ping; without a sign of life for too long the connection ends. */
  beat(): void {
    this.#missedPongs = this.#reading.takeSign() ? 0 : this.#missedPongs + 1
    if (this.#missedPongs >= maxMissedPongs) this.#upstream.terminate()
    else if (this.#upstream.readyState === this.#upstream.OPEN) this.#upstream.ping()
  }

  /** Resolves when the connection has taken it: the client is read no faster. */
  #send(frame: Frame): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#upstream.send(frame, { binary: this.#options.frames === 'binary' }, () => resolve())
    return promise
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    const bytes = data as Buffer
    if (isBinary !== (this.#options.frames === 'binary')) {
      this.#reading.handled(bytes.length)
      this.#upstream.terminate()
      return
    }
    this.#waiting += 1
    this.#reading.pause()
    this.#last = this.#last.then(() => this.#passOn(bytes))
  }

  async #passOn(bytes: Buffer): Promise<void> {
    await this.#options.socket.answer(bytes)
    this.#reading.handled(bytes.length)
    this.#waiting -= 1
    if (this.#waiting === 0) this.#reading.readOn()
  }
}
