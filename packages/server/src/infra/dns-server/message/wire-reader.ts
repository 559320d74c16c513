/** The message is malformed (RFC 1035). */
export class MalformedMessage extends Error {}

const longestName = 255

export class WireReader {
  readonly #bytes: Buffer
  offset = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.offset === this.#bytes.length
  }

  number(bytes: 1 | 2 | 4 | 6): number {
    const from = this.#advance(bytes)
    return this.#bytes.readUIntBE(from, bytes)
  }

  bytes(length: number): Buffer {
    const from = this.#advance(length)
    return this.#bytes.subarray(from, from + length)
  }

  /** A name without pointers as text in lower case. */
  name(): string {
    const labels: string[] = []
    const start = this.offset
    for (let length = this.number(1); length > 0; length = this.number(1)) {
      if (length > 63) throw new MalformedMessage('a pointer where none may be')
      labels.push(labelText(this.bytes(length)))
      if (this.offset - start >= longestName) throw new MalformedMessage('a name of more than 255 bytes')
    }
    return labels.join('.')
  }

  /** Passes a name that may end with a pointer, which is not followed. */
  skipName(): void {
    const start = this.offset
    for (let length = this.number(1); length > 0; length = this.number(1)) {
      if (length >= 0xc0) {
        this.#advance(1)
        return
      }
      if (length > 63) throw new MalformedMessage('a label of an unknown kind')
      this.#advance(length)
      if (this.offset - start >= longestName) throw new MalformedMessage('a name of more than 255 bytes')
    }
  }

  #advance(length: number): number {
    const from = this.offset
    if (from + length > this.#bytes.length) throw new MalformedMessage('the message ends too early')
    this.offset += length
    return from
  }
}

/** Bytes that are not in host names are written as `\DDD` (RFC 1035 section 5.1), so that a dot within a label is not taken
 * for its end. */
function labelText(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[^A-Za-z0-9_-]/g, (byte) => `\\${String(byte.charCodeAt(0)).padStart(3, '0')}`)
    .toLowerCase()
}
