/** What the first message of a TLS client says (RFC 8446 section 4.1.2). */
export interface ClientHello {
  readonly serverName: string | undefined
  readonly protocols: readonly string[]
}

const handshakeRecord = 22
const clientHelloMessage = 1
const serverNameExtension = 0
const protocolsExtension = 16
// A hello with the large keys of today has about 2 KB.
const maxHelloBytes = 16 * 1024
// Clients send one or two. It is read from its beginning whenever some more of it has come.
const maxRecords = 64

/** Reads a hello from the first bytes of a connection: `incomplete` when more of them are needed, `other` when they are no
 * hello, or one that is longer or in more records than any client's. */
export function readClientHello(bytes: Buffer): ClientHello | 'incomplete' | 'other' {
  const message: Buffer[] = []
  let length = 0
  let wanted = 4
  // The message may be cut into several records.
  for (let at = 0; length < wanted; ) {
    if (bytes.length > maxHelloBytes || message.length >= maxRecords) return 'other'
    if (bytes.length > at && bytes[at] !== handshakeRecord) return 'other'
    if (bytes.length < at + 5) return 'incomplete'
    const end = at + 5 + bytes.readUInt16BE(at + 3)
    if (end === at + 5) return 'other'
    if (bytes.length < end) return 'incomplete'
    message.push(bytes.subarray(at + 5, end))
    length += end - at - 5
    at = end
    if (length < 4 || wanted > 4) continue
    const head = Buffer.concat(message)
    if (head[0] !== clientHelloMessage) return 'other'
    wanted = 4 + head.readUIntBE(1, 3)
    if (wanted > maxHelloBytes) return 'other'
  }
  try {
    return helloOf(new Reader(Buffer.concat(message).subarray(4, wanted)))
  } catch (error) {
    if (error instanceof RangeError) return 'other'
    throw error
  }
}

function helloOf(hello: Reader): ClientHello {
  // Version and random.
  hello.take(34)
  hello.vector(1)
  hello.vector(2)
  hello.vector(1)
  const extensions = hello.vector(2)
  let serverName: string | undefined
  const protocols: string[] = []
  while (!extensions.isAtEnd) {
    const type = extensions.number(2)
    const body = extensions.vector(2)
    if (type === protocolsExtension) {
      const names = body.vector(2)
      while (!names.isAtEnd) protocols.push(names.vector(1).text())
    } else if (type === serverNameExtension) {
      const names = body.vector(2)
      // The one type of name that there is: a host.
      if (names.number(1) === 0) serverName = names.vector(2).text().toLowerCase()
    }
  }
  return { serverName, protocols }
}

/** Takes values off a buffer; a `RangeError` when there are too few bytes. */
class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  number(size: 1 | 2): number {
    return this.take(size).readUIntBE(0, size)
  }

  /** As many bytes as a number before them says. */
  vector(sizeOfLength: 1 | 2): Reader {
    return new Reader(this.take(this.number(sizeOfLength)))
  }

  take(size: number): Buffer {
    const taken = this.#bytes.subarray(this.#at, this.#at + size)
    if (taken.length < size) throw new RangeError('the message ends too early')
    this.#at += size
    return taken
  }

  text(): string {
    return this.#bytes.toString('latin1')
  }
}
