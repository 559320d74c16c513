import type { WebSocket } from 'ws'
import type { Answers } from './answers.ts'
import type { Frame } from './live-socket.ts'

// docs/protocol/realtime.md, Common rules. A client that does not read is cut off before it costs more than this.
const maxWaitingBytes = 1024 ** 2
const maxWaitingMessages = 1000
// Pings and pongs go between the pieces of a long message.
const pieceBytes = 256 * 1024

interface SendingOptions {
  readonly isBinary: boolean
  readonly answers: Answers
  /** Called when the client does not take its answer. */
  readonly giveUp: () => void
}

interface Message {
  readonly frame: Frame
  readonly onPiece?: () => void
  readonly onDone: () => void
}

/** The outgoing messages of one socket, in order: pushed messages within a bound, and answers as fast as the connection
 * takes them. */
export class Sending {
  readonly #socket: WebSocket
  readonly #options: SendingOptions
  // Messages behind one that is sent in pieces. Bound: pushed messages may not be more, and answers are awaited.
  readonly #behind: Message[] = []
  #isInPieces = false
  #waiting = 0
  #waitingBytes = 0
  #given = 0
  #taken = 0

  constructor(socket: WebSocket, options: SendingOptions) {
    this.#socket = socket
    this.#options = options
  }

  /** Whether the bound of pushed messages is reached. */
  get isFull(): boolean {
    return this.#waiting >= maxWaitingMessages || this.#waitingBytes > maxWaitingBytes
  }

  get hasUnsent(): boolean {
    return this.#taken < this.#given
  }

  /** Grows with each piece that the connection takes. */
  get taken(): number {
    return this.#taken
  }

  send(frame: Frame): void {
    const bytes = Buffer.byteLength(frame)
    this.#waiting += 1
    this.#waitingBytes += bytes
    this.#add({
      frame,
      onDone: () => {
        this.#waiting -= 1
        this.#waitingBytes -= bytes
      },
    })
  }

  answer(frame: Frame): Promise<void> {
    const { answers, giveUp } = this.#options
    const answer = answers.begin(Buffer.byteLength(frame), giveUp)
    return new Promise((resolve) =>
      this.#add({
        frame,
        onPiece: () => answers.move(answer),
        onDone: () => {
          answers.end(answer)
          resolve()
        },
      }),
    )
  }

  #add(message: Message): void {
    if (this.#isInPieces) this.#behind.push(message)
    else this.#write(message)
  }

  #write(message: Message): void {
    const { frame, onDone } = message
    if (Buffer.byteLength(frame) <= pieceBytes) {
      this.#give(frame, true, onDone)
      return
    }
    this.#isInPieces = true
    this.#writePieces(message, typeof frame === 'string' ? Buffer.from(frame) : frame)
  }

  #writePieces(message: Message, left: Uint8Array): void {
    const isLast = left.length <= pieceBytes
    this.#give(left.subarray(0, pieceBytes), isLast, (hasFailed) => {
      message.onPiece?.()
      if (isLast || hasFailed) message.onDone()
      else this.#writePieces(message, left.subarray(pieceBytes))
      if (hasFailed) this.#writeBehind()
    })
    if (isLast) this.#writeBehind()
  }

  #writeBehind(): void {
    this.#isInPieces = false
    while (!this.#isInPieces) {
      const next = this.#behind.shift()
      if (!next) return
      this.#write(next)
    }
  }

  #give(data: Frame, fin: boolean, onTaken: (hasFailed: boolean) => void): void {
    this.#given += 1
    this.#socket.send(data, { binary: this.#options.isBinary, fin }, (error) => {
      this.#taken += 1
      onTaken(error !== undefined && error !== null)
    })
  }
}
