import { isClosedLate, type SocketClose, type SocketContract, socketCloses } from '@kith/protocol'
import type { RawData, WebSocket } from 'ws'
import type { Clock } from '#lib/clock.ts'
import { EventLoopTurns } from '#lib/event-loop-turns.ts'
import { Pace } from '#lib/pace.ts'
import type { Answers } from './answers.ts'
import { FrameWatch } from './frame-watch.ts'
import type { Receiving, Reception } from './receiving.ts'
import { Sending } from './sending.ts'

/** A message as it came: text, or bytes. */
export type Frame = string | Uint8Array

/** The code that speaks a protocol on a socket. */
export interface SocketHandler {
  /** One message after the other: the next comes when this one is done with. What it throws ends the socket (1011). */
  receive(frame: Frame): void | Promise<void>
  /** Called once, when the socket is gone, with what it has received and not handled; undefined where this side has closed it. */
  gone?(unread: readonly Frame[] | undefined): void
}

interface LiveSocketOptions {
  readonly clock: Clock
  readonly contract: Pick<SocketContract, 'frames' | 'messagesPerMinute' | 'messageUnitBytes'>
  readonly receiving: Receiving
  readonly answers: Answers
  /** Told of what a handler throws. */
  readonly onError: (error: unknown) => void
  /** Told once, when nothing comes or goes any more. */
  readonly onGone: () => void
}

const maxMistakes = 10
const maxMissedPongs = 2
const maxControlsPerMinute = 6000
const refusalDelayMs = 1000
// Received messages that are not handled yet. Above the bound reading is paused; one read of the system may bring some more.
const maxUnhandled = 64
const maxUnhandledBytes = 1024 ** 2
// Receiving a longer message takes most of a turn of the event loop, and it is handled in the next one.
const maxBytesOfTurn = 1024 ** 2
// How long a client may take to answer a close frame.
const goodbyeMs = 5000

// The reasons for which reading is paused, as bits.
const unopened = 1
const unhandled = 2
const controls = 4
const others = 8

/** One open WebSocket within the bounds that every one of them has. */
export class LiveSocket {
  readonly #socket: WebSocket
  readonly #options: LiveSocketOptions
  readonly #openedAtMs: number
  readonly #messages: Pace
  readonly #unitBytes: number
  readonly #controls: Pace
  readonly #turns = new EventLoopTurns()
  readonly #sending: Sending
  readonly #reception: Reception
  readonly #unhandled: Buffer[] = []
  #handler: SocketHandler | undefined
  #unhandledBytes = 0
  #isHandling = false
  #isClosing = false
  #isGone = false
  #pauses = unopened
  #mistakes = 0
  #missedPongs = 0
  #takenAtBeat = 0
  #isPonging = false
  #nextPong: Buffer | undefined

  constructor(socket: WebSocket, options: LiveSocketOptions) {
    const { clock, contract, receiving, answers } = options
    this.#socket = socket
    this.#options = options
    this.#openedAtMs = clock.now()
    this.#messages = new Pace(clock, contract.messagesPerMinute)
    this.#unitBytes = contract.messageUnitBytes ?? Number.POSITIVE_INFINITY
    this.#controls = new Pace(clock, Math.min(contract.messagesPerMinute, maxControlsPerMinute))
    const giveUp = () => this.close('overloaded')
    this.#sending = new Sending(socket, { isBinary: contract.frames === 'binary', answers, giveUp })
    this.#reception = receiving.open({
      stopReading: () => this.#pause(others),
      readOn: () => this.#readOn(others),
      giveUp,
    })
    // Nothing is read before there is a handler.
    socket.pause()
    socket.on('message', (data, isBinary) => this.#onMessage(data, isBinary))
    socket.on('ping', (data) => this.#onPing(data))
    socket.on('pong', () => this.#countControl())
    // After an error the library closes the socket itself, with the right code.
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
      handler.gone?.(undefined)
      return
    }
    this.#handler = handler
    if (!this.#isClosing) this.#readOn(unopened)
  }

  /** Sends a pushed message, or ends the socket (1013) when its client is too slow: no message is ever left out. Bytes are
   * sent as text where the path speaks text. */
  send(frame: Frame): void {
    if (!this.isOpen) return
    if (this.#sending.isFull) this.close('overloaded')
    else this.#sending.send(frame)
  }

  /** Sends the answer to a request of the client itself, which does not count for the bound of `send`. Resolves when the
   * connection has taken it, or the socket has closed; a handler that awaits it in `receive` gets no message until then. */
  answer(frame: Frame): Promise<void> {
    return this.isOpen ? this.#sending.answer(frame) : Promise.resolve()
  }

  /** Closes the socket. A refusal comes a second after the opening at the earliest, to slow down clients that reconnect in a loop. */
  close(why: SocketClose): void {
    if (!this.isOpen) return
    this.#isClosing = true
    this.#unhandled.length = 0
    const { clock } = this.#options
    const atMs = isClosedLate(why) ? this.#openedAtMs + refusalDelayMs : 0
    if (atMs <= clock.now()) this.#sayGoodbye(why)
    else clock.wakeAt(atMs, () => this.#sayGoodbye(why))
  }

  /** Ends it without a close frame. */
  terminate(): void {
    this.#isClosing = true
    this.#socket.terminate()
  }

  /** Counts a message that violates the protocol: too many of them end the socket. */
  noteMistake(): void {
    this.#mistakes += 1
    if (this.#mistakes > maxMistakes) this.close('disorderly')
  }

  /** Sends a ping; without a sign of life for too long the socket ends. A client whose socket is paused cannot answer. Any
   * received bytes are a sign of life, since a pong waits behind a long message, and so is taking what is sent. */
  beat(): void {
    if (this.#isGone) return
    const { taken, hasUnsent } = this.#sending
    const isStuck = hasUnsent && taken === this.#takenAtBeat
    this.#takenAtBeat = taken
    if (!isStuck && (hasUnsent || this.#pauses !== 0)) this.#missedPongs = 0
    if (this.#missedPongs >= maxMissedPongs) {
      this.terminate()
      return
    }
    this.#missedPongs += 1
    if (this.isOpen) this.#socket.ping()
  }

  /** Checks the frame headers before the library parses them. */
  watchFrames(
    connection: { prependListener(event: 'data', listener: (chunk: Uint8Array) => void): unknown },
    maxFrameBytes: number,
  ): void {
    const watch = new FrameWatch(maxFrameBytes)
    let isFine = true
    connection.prependListener('data', (chunk) => {
      this.#missedPongs = 0
      if (!isFine) return
      isFine = watch.admits(chunk)
      if (isFine) this.#reception.came(watch.messageBytes, watch.isMidMessage)
      else this.close('tooLarge')
    })
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    const bytes = data as Buffer
    const isOfPath = isBinary === (this.#options.contract.frames === 'binary')
    if (!this.isOpen || !isOfPath) {
      this.#reception.handled(bytes.length)
      if (!isOfPath) this.noteMistake()
      return
    }
    this.#unhandled.push(bytes)
    this.#unhandledBytes += bytes.length
    if (this.#isFull()) this.#pause(unhandled)
    if (!this.#isHandling) void this.#handleAll()
  }

  async #handleAll(): Promise<void> {
    this.#isHandling = true
    this.#turns.begin()
    try {
      while (this.#unhandled.length > 0) {
        // One read of the system brings thousands of short messages: others, and the end of this socket, wait meanwhile.
        if (this.#turns.isOver) await this.#turns.giveWay()
        const bytes = this.#unhandled[0]?.length ?? 0
        if (bytes > maxBytesOfTurn) await new Promise(setImmediate)
        const waitMs = this.#messages.take(Math.max(1, Math.ceil(bytes / this.#unitBytes)))
        if (waitMs > 0) await this.#wait(waitMs)
        const next = this.#unhandled.shift()
        if (next) await this.#handle(next)
      }
    } catch (error) {
      this.#options.onError(error)
      this.close('failed')
    } finally {
      this.#isHandling = false
    }
  }

  async #handle(message: Buffer): Promise<void> {
    this.#unhandledBytes -= message.length
    try {
      await this.#handler?.receive(this.#frameOf(message))
    } finally {
      this.#reception.handled(message.length)
    }
    if (!this.#isFull()) this.#readOn(unhandled)
  }

  #frameOf(message: Buffer): Frame {
    return this.#options.contract.frames === 'text' ? message.toString('utf8') : message
  }

  #isFull(): boolean {
    return this.#unhandled.length >= maxUnhandled || this.#unhandledBytes >= maxUnhandledBytes
  }

  /** Only the last of several pings needs a pong (RFC 6455, 5.5.3), so that no more than one waits. */
  #onPing(data: Buffer): void {
    this.#countControl()
    if (this.#isPonging) this.#nextPong = data
    else if (this.isOpen) this.#pong(data)
  }

  #pong(data: Buffer): void {
    this.#isPonging = true
    this.#socket.pong(data, false, () => {
      this.#isPonging = false
      const next = this.#nextPong
      this.#nextPong = undefined
      if (next && this.isOpen) this.#pong(next)
    })
  }

  #countControl(): void {
    const waitMs = this.#controls.take()
    if (waitMs === 0 || this.#pauses & controls) return
    this.#pause(controls)
    void this.#wait(waitMs).then(() => this.#readOn(controls))
  }

  #wait(ms: number): Promise<void> {
    const { clock } = this.#options
    return new Promise((resolve) => clock.wakeAt(clock.now() + ms, resolve))
  }

  #pause(why: number): void {
    this.#pauses |= why
    if (!this.#isClosing) this.#socket.pause()
  }

  #readOn(why: number): void {
    this.#pauses &= ~why
    if (this.#pauses === 0 && this.isOpen && this.#socket.isPaused) this.#socket.resume()
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
    const messages = this.#unhandled.splice(0)
    const unread = this.#isClosing ? undefined : messages.map((message) => this.#frameOf(message))
    this.#reception.end()
    this.#handler?.gone?.(unread)
    this.#options.onGone()
  }
}
