// Two bytes, eight of an extended length, four of the mask.
const longestHeader = 14
const firstControl = 0x8

/** Reads the headers of a client's frames as the bytes pass by, without keeping any: the library bounds messages only, and does
 * not say how much of them it keeps. */
export class FrameWatch {
  readonly #maxFrameBytes: number
  readonly #header = new Uint8Array(longestHeader)
  #headerBytes = 0
  #payloadLeft = 0
  #isControl = false
  #isUnfinished = false
  #messageBytes = 0

  constructor(maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes
  }

  /** What the last chunk had of messages. */
  get messageBytes(): number {
    return this.#messageBytes
  }

  /** Has a message begun that has not ended yet? */
  get isMidMessage(): boolean {
    return this.#isUnfinished || this.#headerBytes > 0 || this.#payloadLeft > 0
  }

  /** False as soon as the header of a frame says that it is too long. */
  admits(chunk: Uint8Array): boolean {
    this.#messageBytes = 0
    let at = 0
    while (at < chunk.length) {
      if (this.#payloadLeft > 0) {
        const passed = Math.min(this.#payloadLeft, chunk.length - at)
        this.#payloadLeft -= passed
        if (!this.#isControl) this.#messageBytes += passed
        at += passed
        continue
      }
      this.#header[this.#headerBytes] = chunk[at] ?? 0
      this.#headerBytes += 1
      at += 1
      if (this.#headerBytes < headerLength(this.#header, this.#headerBytes)) continue
      if (!this.#admitsHeader()) return false
    }
    return true
  }

  #admitsHeader(): boolean {
    const first = this.#header[0] ?? 0
    this.#isControl = (first & 0x0f) >= firstControl
    if (!this.#isControl) this.#isUnfinished = (first & 0x80) === 0
    this.#payloadLeft = payloadLength(this.#header)
    this.#headerBytes = 0
    return this.#payloadLeft <= this.#maxFrameBytes
  }
}

function headerLength(header: Uint8Array, known: number): number {
  if (known < 2) return 2
  const second = header[1] ?? 0
  return 2 + extendedBytes(second & 0x7f) + (second & 0x80 ? 4 : 0)
}

function extendedBytes(length: number): number {
  return length === 127 ? 8 : length === 126 ? 2 : 0
}

function payloadLength(header: Uint8Array): number {
  const short = (header[1] ?? 0) & 0x7f
  const bytes = extendedBytes(short)
  if (bytes === 0) return short
  let length = 0
  for (let at = 2; at < 2 + bytes; at += 1) length = length * 256 + (header[at] ?? 0)
  return length
}
