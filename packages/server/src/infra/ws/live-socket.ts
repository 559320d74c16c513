import { type SocketClose, type SocketContract, socketCloses } from '@kith/protocol'
import type { RawData, WebSocket } from 'ws'
import type { Clock } from '#lib/clock.ts'
import { FrameWatch } from './frame-watch.ts'

/** A message as it came: text, or bytes. */
export type Frame = string | Uint8Array

/** The code that speaks a protocol on a socket. */
export interface SocketHandler {
  /** One message after the other: the next comes when this one is done with. What it throws ends the socket (1011). */
  receive(frame: Frame): void | Promise<void>
  /** Called once, when the socket is gone. */
  gone?(): void
}

interface LiveSocketOptions {
  readonly clock: Clock
  /** Control frames have the bound of messages, on their own. */
  readonly contract: Pick<SocketContract, 'frames' | 'messagesPerMinute'>
  /** Told of what a handler throws. */
  readonly onError: (error: unknown) => void
  /** Told once, when nothing comes or goes any more. */
  readonly onGone: () => void
}

// docs/protocol/realtime.md, Common rules. A client that does not read is cut off before it costs more than this.
const maxWaitingBytes = 1024 ** 2
const maxWaitingMessages = 1000
const maxMistakes = 10
const maxMissedPongs = 2
const refusalCode = socketCloses.unauthenticated.code
const refusalDelayMs = 1000
// What has come and is not handled yet; then the client has to wait. One read of the system may bring some more.
const maxUnhandled = 64
const maxUnhandledBytes = 1024 ** 2
// For a client to answer the close; one that does not read never does.
const goodbyeMs = 5000
const minuteMs = 60_000

/** One open WebSocket within the bounds that every one of them has. */
export class LiveSocket {
  readonly #socket: WebSocket
  readonly #options: LiveSocketOptions
  readonly #openedAtMs: number
  readonly #messages: Budget
  readonly #controls: Budget
  readonly #unhandled: { readonly frame: Frame; readonly bytes: number }[] = []
  readonly #settled: (() => void)[] = []
  #handler: SocketHandler | undefined
  #unhandledBytes = 0
  #isHandling = false
  #isClosing = false
  #isGone = false
  #waiting = 0
  #waitingBytes = 0
  #unsent = 0
  #mistakes = 0
  #missedPongs = 0

  constructor(socket: WebSocket, options: LiveSocketOptions) {
    this.#socket = socket
    this.#options = options
    this.#openedAtMs = options.clock.now()
    this.#messages = new Budget(options.clock, options.contract.messagesPerMinute)
    this.#controls = new Budget(options.clock, options.contract.messagesPerMinute)
    // Nothing is read before there is a handler.
    socket.pause()
    socket.on('message', (data, isBinary) => this.#onMessage(data, isBinary))
    socket.on('ping', () => this.#onControl())
    socket.on('pong', () => {
      this.#missedPongs = 0
      this.#onControl()
    })
    // The library has closed the socket already, with the code that belongs to it.
    socket.on('error', () => undefined)
    socket.once('close', () => this.#onGone())
  }

  /** Can something still be sent? */
  get isOpen(): boolean {
    return !this.#isClosing && !this.#isGone
  }

  /** Has everything ended, goodbyes included? */
  get isGone(): boolean {
    return this.#isGone
  }

  /** From now on messages are read. */
  handleWith(handler: SocketHandler): void {
    if (this.#isGone) {
      handler.gone?.()
      return
    }
    this.#handler = handler
    if (!this.#isClosing) this.#socket.resume()
  }

  /** Sends what others did, or ends the socket (1013) when its client is too slow: nothing is ever left out silently. Bytes are
   * sent as text where the path speaks text. */
  send(frame: Frame): void {
    if (!this.isOpen) return
    if (this.#waiting >= maxWaitingMessages || this.#waitingBytes > maxWaitingBytes) {
      this.close('overloaded')
      return
    }
    const bytes = Buffer.byteLength(frame)
    this.#waiting += 1
    this.#waitingBytes += bytes
    this.#write(frame, () => {
      this.#waiting -= 1
      this.#waitingBytes -= bytes
    })
  }

  /** Sends the answer to a request of the client itself, however long its line takes: it counts for no bound. Resolves when the
   * line has taken it, or the socket has closed; a handler that waits for it in `receive` is given no message until then. */
  answer(frame: Frame): Promise<void> {
    if (!this.isOpen) return Promise.resolve()
    return new Promise((resolve) => this.#write(frame, resolve))
  }

  /** Resolves when nothing waits to be sent, or the socket has closed: for handlers that send much. */
  sent(): Promise<void> {
    if (this.#unsent === 0 || this.#isGone) return Promise.resolve()
    return new Promise((resolve) => this.#settled.push(resolve))
  }

  /** Ends the socket. What its client is to blame for (1008) is told a second after the opening at the earliest, so that
   * a client that loops does no harm. */
  close(why: SocketClose): void {
    if (!this.isOpen) return
    this.#isClosing = true
    this.#unhandled.length = 0
    const { clock } = this.#options
    const atMs = socketCloses[why].code === refusalCode ? this.#openedAtMs + refusalDelayMs : 0
    if (atMs <= clock.now()) this.#sayGoodbye(why)
    else clock.wakeAt(atMs, () => this.#sayGoodbye(why))
  }

  /** Ends it without a close frame. */
  terminate(): void {
    this.#isClosing = true
    this.#socket.terminate()
  }

  /** Counts a message that is not of the protocol: too many of them end the socket. */
  noteMistake(): void {
    this.#mistakes += 1
    if (this.#mistakes > maxMistakes) this.close('disorderly')
  }

  /** Asks for a sign of life; without one for too long the socket ends. */
  beat(): void {
    if (this.#isGone) return
    if (this.#missedPongs >= maxMissedPongs) {
      this.terminate()
      return
    }
    this.#missedPongs += 1
    if (this.isOpen) this.#socket.ping()
  }

  /** Looks at the lengths of the frames as they come. */
  watchFrames(
    connection: { on(event: 'data', listener: (chunk: Uint8Array) => void): unknown },
    maxFrameBytes: number,
  ): void {
    const watch = new FrameWatch(maxFrameBytes)
    let isFine = true
    connection.on('data', (chunk) => {
      isFine = isFine && watch.admits(chunk)
      if (!isFine) this.close('tooLarge')
    })
  }

  #write(frame: Frame, done: () => void): void {
    this.#unsent += 1
    this.#socket.send(frame, { binary: this.#options.contract.frames === 'binary' }, () => {
      done()
      this.#unsent -= 1
      if (this.#unsent === 0) this.#settle()
    })
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    if (!this.isOpen) return
    if (!this.#messages.take()) {
      this.close('overloaded')
      return
    }
    if (isBinary !== (this.#options.contract.frames === 'binary')) {
      this.noteMistake()
      return
    }
    const bytes = data as Buffer
    this.#unhandled.push({ frame: isBinary ? bytes : bytes.toString('utf8'), bytes: bytes.length })
    this.#unhandledBytes += bytes.length
    if (this.#isFull()) this.#socket.pause()
    if (!this.#isHandling) void this.#handleAll()
  }

  async #handleAll(): Promise<void> {
    this.#isHandling = true
    try {
      for (let next = this.#unhandled.shift(); next; next = this.#unhandled.shift()) {
        this.#unhandledBytes -= next.bytes
        await this.#handler?.receive(next.frame)
        if (this.isOpen && this.#socket.isPaused && !this.#isFull()) this.#socket.resume()
      }
    } catch (error) {
      this.#options.onError(error)
      this.close('failed')
    } finally {
      this.#isHandling = false
    }
  }

  #isFull(): boolean {
    return this.#unhandled.length >= maxUnhandled || this.#unhandledBytes >= maxUnhandledBytes
  }

  #onControl(): void {
    if (!this.#controls.take()) this.close('overloaded')
  }

  #sayGoodbye(why: SocketClose): void {
    if (this.#isGone) return
    const { clock } = this.#options
    const { code, reason } = socketCloses[why]
    // A paused socket would not see the answer.
    this.#socket.resume()
    this.#socket.close(code, reason)
    const callOff = clock.wakeAt(clock.now() + goodbyeMs, () => this.#socket.terminate())
    this.#socket.once('close', callOff)
  }

  #onGone(): void {
    this.#isGone = true
    this.#unhandled.length = 0
    this.#settle()
    this.#handler?.gone?.()
    this.#options.onGone()
  }

  #settle(): void {
    for (const resolve of this.#settled.splice(0)) resolve()
  }
}

/** So many in a minute. */
class Budget {
  readonly #clock: Pick<Clock, 'now'>
  readonly #perMinute: number
  #endsAtMs = 0
  #taken = 0

  constructor(clock: Pick<Clock, 'now'>, perMinute: number) {
    this.#clock = clock
    this.#perMinute = perMinute
  }

  take(): boolean {
    const nowMs = this.#clock.now()
    if (nowMs >= this.#endsAtMs) {
      this.#endsAtMs = nowMs + minuteMs
      this.#taken = 0
    }
    this.#taken += 1
    return this.#taken <= this.#perMinute
  }
}
